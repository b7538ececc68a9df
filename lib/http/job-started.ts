import type { Call } from './endpoint.ts'
import type { Principal } from '#lib/auth/principal.ts'

/** What an endpoint says that can be done as a job (`Prefer: respond-async`, RFC 7240). */
export interface JobKind {
  readonly type: string
  readonly operation: string
  /** What the `id` of its reply is the id of. */
  readonly record?: string
  /** It is one also for whoever waits for its end: that it goes on does not depend on them. */
  readonly always?: true
  /** Nobody waits for its end: the reply is the job. */
  readonly detached?: true
  /** Doing it again ends where doing it once would have: after a restart it is. */
  readonly repeatable?: true
  /** What its job shows of a body, to be told from others: never a secret. */
  readonly about?: (body: never) => Readonly<Record<string, string>>
}

/** A request that is done as a job. */
export interface JobRequest extends Pick<Call, 'params' | 'query' | 'body'> {
  /** The route's id. */
  readonly operation: string
  readonly kind: JobKind
  readonly caller: Principal
}

/** A job that has begun, and what comes of it: what the request is answered, or refused with. */
export interface BegunJob {
  readonly job: { readonly id: string }
  readonly result: Promise<unknown>
}

/** What a handler did not answer yet: the reply is 202, with the job and where to look for it. */
export class JobStarted {
  readonly job: { readonly id: string }

  constructor(job: { readonly id: string }) {
    this.job = job
  }
}

/** Whether the sender does not want to wait for the end. */
export const prefersJob = ({ headers }: Request): boolean =>
  (headers.get('prefer') ?? '')
    .split(',')
    .some(preference => preference.split(';')[0]!.trim().toLowerCase() === 'respond-async')
