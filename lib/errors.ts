/**
 * The closed list of ways in which the service says no. Domain code throws these names; only `lib/calls/statuses.ts`
 * knows which HTTP status each one has.
 */
export type Fault =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'conflict'
  | 'precondition-failed'
  | 'too-large'
  | 'upgrade-required'
  | 'locked-out'
  | 'internal'
  | 'unsupported'
  | 'upstream'
  | 'unavailable'
  | 'timeout'
  | 'no-space'

/** The `error` of a reply for a path that leads to no endpoint. A build or a configuration can have some endpoints only. */
export const unknownEndpoint = 'unknown_endpoint'

/** One cause in words. Never a source path, a trace or a secret: this is sent to the caller. */
export interface Cause {
  readonly error: string
  readonly description?: string
  readonly path?: string
}

interface Details {
  /** What really happened: logged, never sent. */
  readonly cause?: unknown
  /** Further causes in words: sent in the body as `stack`. */
  readonly stack?: readonly Cause[]
  readonly headers?: Readonly<Record<string, string>>
  /** Fields that this reply carries beside the error body (for example `operations` of a refused `set`). */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A refusal that the caller is told about. `message` says what happened, why, and what to do. */
export class ServiceError extends Error {
  readonly fault: Fault
  readonly causes: readonly Cause[]
  readonly headers: Readonly<Record<string, string>>
  readonly extra: Readonly<Record<string, unknown>>

  constructor(fault: Fault, message: string, details: Details = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = 'ServiceError'
    this.fault = fault
    this.causes = details.stack ?? []
    this.headers = details.headers ?? {}
    this.extra = details.extra ?? {}
  }
}

/** Whether `error` is a refusal of this kind. */
export const isFault = (error: unknown, fault: Fault): error is ServiceError =>
  error instanceof ServiceError && error.fault === fault

/** The text of anything thrown, for messages and logs. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
