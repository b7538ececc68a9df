import type * as z from 'zod'
import { type Cause, type Fault, ServiceError } from '#lib/errors.ts'
// Sets the messages of zod issues.
import '#lib/schema-errors.ts'
import { keysOf } from '#lib/keys-of.ts'

/** The one table from fault to HTTP status, for every area of the service. */
const statuses: Readonly<Record<Fault, number>> = {
  invalid: 400,
  unsupported: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  'precondition-failed': 412,
  'too-large': 413,
  'upgrade-required': 426,
  'locked-out': 429,
  internal: 500,
  upstream: 502,
  unavailable: 503,
  timeout: 504,
  'no-space': 507,
}

/** The OAuth-style type (spec section 7) that goes with a status where the thrower named none. */
const oauthTypes: Readonly<Record<number, string>> = {
  401: 'unauthorized_client',
  403: 'unauthorized_client',
  429: 'user_blocked',
}

export const toStatus = (fault: Fault): number => statuses[fault]

/** The fault of a status: the first in the table when several share the status. */
export const toFault = (status: number): Fault =>
  keysOf(statuses).find(fault => statuses[fault] === status) ?? (status < 500 ? 'invalid' : 'internal')

/**
 * The body of an error, with both shapes of spec section 7. Empty members are left out. `oauthRequest` adds an OAuth error
 * type to a 400 too.
 */
export const createErrorBody = (error: ServiceError, oauthRequest = false): Record<string, unknown> => {
  const code = toStatus(error.fault)
  const oauth = oauthTypes[code] ?? (oauthRequest && code === 400 ? 'invalid_request' : undefined)
  return {
    code,
    message: error.message,
    ...(error.causes.length > 0 && { stack: error.causes.map(cause => ({ code, ...cause })) }),
    ...(oauth && { error: oauth, error_description: error.message }),
    ...error.extra,
  }
}

/** The status that logs and metrics show when the client disconnected before the reply. It is never sent. */
export const clientClosedRequest = 499

/** Converts anything thrown to the error that the caller sees. An unexpected error shows only the id of its log entry. */
export const toServiceError = (thrown: unknown, requestId: string): ServiceError =>
  thrown instanceof ServiceError
    ? thrown
    : new ServiceError('internal', `The service failed on this request; its log has the details under ${requestId}.`, {
        cause: thrown,
      })

/** Limit for the issues that one reply lists. */
const maxIssues = 100

/** Removes further issues of a path that already has the wrong type: they follow from that. */
const removeImpliedIssues = (issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] => {
  const mistypedPaths = new Set<string>()
  return issues.filter(({ code, path }) => {
    const at = path.join('.')
    const isImplied = mistypedPaths.has(at)
    if (code === 'invalid_type') mistypedPaths.add(at)
    return !isImplied
  })
}

/** The 400 error that names the invalid fields. `where` is the part of the request: body, query, … */
export const createInvalidInputError = (where: string, issues: readonly z.core.$ZodIssue[]): ServiceError => {
  const stack: Cause[] = removeImpliedIssues(issues)
    .slice(0, maxIssues)
    .map(issue => ({ error: issue.message, path: issue.path.join('.') || where }))
  const details = stack.map(cause => (cause.path === where ? cause.error : `${cause.path}: ${cause.error}`)).join('; ')
  return new ServiceError('invalid', `The request ${where} is not valid. ${details}`, { stack })
}
