import { ServiceError } from '#lib/errors.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import type { Logger } from '#lib/platform/log.ts'

/**
 * Creates a function that logs failed requests, and with `logAll` every request. It does not ask the log for its level, because
 * that would cost a tenth of a small request. An expected failure is a warning; any other is a defect and has its stack trace.
 */
export const createRequestLogger =
  (log: Logger, logAll: boolean) =>
  ({ method, route, caller }: RequestContext, { requestId, status, error }: Outcome): void => {
    if (status < 500 && !logAll) return
    const fields = { requestId, method, operation: route?.id, caller: caller?.id, status }
    if (status < 500) log.debug('{method} {operation}: {status}', fields)
    else if (error instanceof ServiceError && error.fault !== 'internal')
      log.warning('{method} {operation}: {status} {reason}', { ...fields, reason: error.message, cause: error.cause })
    else log.error('{method} {operation}: {status}', { ...fields, error })
  }
