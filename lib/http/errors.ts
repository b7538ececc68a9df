import type * as z from 'zod'
import { type Cause, type Fault, ServiceError } from '#lib/errors.ts'

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

export const statusOf = (fault: Fault): number => statuses[fault]

/**
 * Both error shapes of spec section 7 in one body; members that say nothing are left out. `oauthRequest`: the request was
 * one of OAuth's own, so that a bad one has a type there too.
 */
export const errorBody = (error: ServiceError, oauthRequest = false): Record<string, unknown> => {
  const code = statusOf(error.fault)
  const oauth = oauthTypes[code] ?? (oauthRequest && code === 400 ? 'invalid_request' : undefined)
  return {
    code,
    message: error.message,
    ...(error.causes.length > 0 && { stack: error.causes.map(cause => ({ code, ...cause })) }),
    ...(oauth && { error: oauth, error_description: error.message }),
    ...error.extra,
  }
}

/** What the caller is told of anything thrown. An unexpected error shows nothing of itself but the id to find it by. */
export const toServiceError = (thrown: unknown, requestId: string): ServiceError =>
  thrown instanceof ServiceError
    ? thrown
    : new ServiceError('internal', `The service failed on this request; its log has the details under ${requestId}.`, {
        cause: thrown,
      })

/** Mistakes that are named: whoever makes more hears of those when these are mended. */
const mostNamed = 100

/** A 400 that names the fields which are wrong. `where` is the part of the request: body, query, … */
export const invalidInput = (where: string, issues: readonly z.core.$ZodIssue[]): ServiceError => {
  const stack: Cause[] = issues
    .slice(0, mostNamed)
    .map(issue => ({ error: issue.message, path: issue.path.join('.') || where }))
  const told = stack.map(cause => (cause.path === where ? cause.error : `${cause.path}: ${cause.error}`)).join('; ')
  return new ServiceError('invalid', `The request ${where} is not valid. ${told}`, { stack })
}
