import type { Audit } from '#lib/audit/audit.ts'
import { toStatus } from '#lib/calls/statuses.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ScheduledChange } from '#lib/snapshot-schedules/run-schedule.ts'

/** Returns what adds to the audit a change that a schedule has made with the rights of a user, as if the user had asked for it. */
export const recordScheduledChange =
  (audit: Pick<Audit, 'record'>) =>
  ({ caller, run, operation, method, target, details, error }: ScheduledChange): Promise<void> => {
    const status = error instanceof ServiceError ? toStatus(error.fault) : 500
    const failure = { outcome: status < 500 ? 'refused' : 'failed', status } as const
    return audit.record({
      at: new Date().toISOString(),
      request_id: run,
      user_id: caller.id,
      username: caller.username,
      ...(caller.apiKeyId !== undefined && { api_key_id: caller.apiKeyId }),
      address: 'local',
      operation,
      method,
      target: { ...target },
      details: { ...details },
      ...(error === undefined ? { outcome: 'done', status: 202 } : failure),
      ...(error instanceof ServiceError && { message: error.message }),
    })
  }
