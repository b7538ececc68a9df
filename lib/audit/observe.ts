import type { Action } from '#lib/http/observation.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Audit } from './audit.ts'
import type { AuditFacts } from './entry.ts'

const outcomeOf = (status: number): AuditFacts['outcome'] => {
  if (status < 400) return 'done'
  return status < 500 ? 'refused' : 'failed'
}

const longest = 1024

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)

/** What a request said, if it is short: who refuses nothing must not fill the disk either. */
const short = (details: Record<string, unknown>): Record<string, unknown> =>
  JSON.stringify(details).length > longest ? { note: 'too long to be kept' } : details

/** Tells the audit of what the application did or refused. */
export const auditInto =
  (audit: Pick<Audit, 'record'>) =>
  ({ requestId, method, operation, caller, address, target, details, created, status, error }: Action): Promise<void> =>
    audit.record({
      at: new Date().toISOString(),
      request_id: requestId,
      ...(caller && { user_id: caller.id, username: caller.username }),
      ...(caller?.apiKeyId !== undefined && { api_key_id: caller.apiKeyId }),
      address,
      operation,
      method,
      ...(target && { target: Object.fromEntries(Object.entries(target).map(([key, text]) => [key, cut(text)])) }),
      ...(details && { details: short(details) }),
      ...(created !== undefined && { created }),
      outcome: outcomeOf(status),
      status,
      ...(error instanceof ServiceError && { message: cut(error.message) }),
    })
