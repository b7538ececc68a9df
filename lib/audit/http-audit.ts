import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Audit as HttpAudit } from '#lib/http/audit.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Audit } from './audit.ts'
import type { AuditFacts } from './entry.ts'

const toOutcome = (status: number): AuditFacts['outcome'] => {
  if (status < 400) return 'done'
  return status < 500 ? 'refused' : 'failed'
}

const maxLength = 1024

const truncate = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)

/** Replaces details that are too long: successful requests must not fill the disk either. */
const limitDetails = (details: Record<string, unknown>): Record<string, unknown> =>
  JSON.stringify(details).length > maxLength ? { note: 'too long to be stored' } : details

/** The members of a value that have these names and are defined. */
const pickMembers = (value: unknown, names: readonly string[] = []): readonly (readonly [string, unknown])[] =>
  Object.entries(value ?? {}).filter(([name, member]) => names.includes(name) && member !== undefined)

/** The parameters of the path, truncated. */
const readTarget = ({ params }: RequestContext): Record<string, string> | undefined => {
  const found = pickMembers(params, Object.keys(params ?? {}))
  return found.length > 0 ? Object.fromEntries(found.map(([key, text]) => [key, truncate(String(text))])) : undefined
}

/** The members of the query and of the body that the endpoint allows in the audit. */
const readDetails = (context: RequestContext): Record<string, unknown> | undefined => {
  const { query, body } = context
  const { audited } = context.requireRoute().endpoint
  const found = [query, body].flatMap(part => pickMembers(part, audited))
  return found.length > 0 ? limitDetails(Object.fromEntries(found)) : undefined
}

const readId = (value: unknown): string | undefined => {
  const { id }: { id?: unknown } = Object(value)
  return typeof id === 'string' ? id : undefined
}

/** Adds an entry to the audit for each change that the application made or refused. */
export const createHttpAudit = (audit: Pick<Audit, 'admit' | 'record'>): HttpAudit => ({
  admit: audit.admit,
  record(context, { requestId, status, value, error }) {
    const { address, method } = context
    const user: Pick<Principal, 'id' | 'username' | 'apiKeyId' | 'issuer'> | undefined = context.caller ?? context.actor
    const target = readTarget(context)
    const details = readDetails(context)
    const created = status === 201 ? readId(value) : undefined
    return audit.record({
      at: new Date().toISOString(),
      request_id: requestId,
      ...(user && { user_id: user.id, username: user.username }),
      ...(user?.issuer !== undefined && { issuer: user.issuer }),
      ...(user?.apiKeyId !== undefined && { api_key_id: user.apiKeyId }),
      address,
      operation: context.requireRoute().id,
      method,
      ...(target && { target }),
      ...(details && { details }),
      ...(created !== undefined && { created }),
      outcome: toOutcome(status),
      status,
      ...(error instanceof ServiceError && { message: truncate(error.message) }),
    })
  },
})
