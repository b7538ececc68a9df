import type { Services } from '#lib/services.ts'
import type { Work } from '#lib/work.ts'
import type { Audit } from './actions.ts'
import type { Cors } from './cors.ts'
import type { Route } from './endpoint.ts'
import type { Filter } from './filter.ts'
import type { BegunJob, JobRequest } from './job-started.ts'
import type { Observation } from './observation.ts'
import type { Authenticate } from './steps.ts'

/** A request that must have one effect however often it comes. */
export interface OnceRequest {
  /** The value of Idempotency-Key. */
  readonly key: string
  /** The caller's id: keys of different callers do not meet. */
  readonly caller: string
  readonly operation: string
  /** What the request asks for: the same key with another content is a mistake. */
  readonly content: unknown
  /** The reply holds a secret, which is shown once and kept nowhere. */
  readonly secret: boolean
}

export interface AppOptions {
  readonly routes: readonly Route[]
  readonly services: Partial<Services>
  readonly authenticate: Authenticate
  /** Reads an X-Filter header; needed where an endpoint takes one. */
  readonly parseFilter?: (header: string) => Promise<Filter>
  readonly observe: (what: Observation) => void
  /** Which pages of other sites may ask; none when left out. */
  readonly cors?: Cors | undefined
  /** Headers of every reply, beside those of security that all have. */
  readonly headers?: Readonly<Record<string, string>>
  /** Gives a repeated Idempotency-Key the answer of the first request; without it the header counts for nothing. */
  readonly runOnce?: <T>(once: OnceRequest, work: () => Promise<T> | T) => Promise<T>
  /** Does a call as a job; without it nobody's preference for one is met. */
  readonly startJob?: (request: JobRequest, work: (work: Work) => unknown) => Promise<BegunJob>
  /** Keeps what was done and refused; the reply waits for it. */
  readonly audit?: Audit
  /** Hold every reply to its schema: costs a parse per reply, for tests and development. */
  readonly checkReplies: boolean
}
