import type { Principal } from '#lib/access/principal.ts'
import { SpecialReply } from './special-reply.ts'

/** Declares that an endpoint can run as a job (`Prefer: respond-async`, RFC 7240). */
export interface JobKind {
  readonly type: string
  readonly operation: string
  /** The type of the record that the `id` of the reply names. */
  readonly record?: string
  /** The call is always a job, also when the caller waits for its end, so it continues when the caller disconnects. */
  readonly always?: true
  /** Callers cannot wait for the end: the reply is always the job. */
  readonly detached?: true
  /** The call is idempotent, so an interrupted job is run again after a restart. */
  readonly repeatable?: true
  /** Members of the body that the job shows, so that people can tell jobs apart. Never a secret. */
  readonly summarize?: (body: never) => Readonly<Record<string, string>>
}

/** A request that runs as a job. */
export interface JobRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** The route's id. */
  readonly operation: string
  readonly kind: JobKind
  readonly caller: Principal
}

/** A started job with its result: the promise gives the reply or rejects with the refusal. */
export interface StartedJob {
  readonly job: { readonly id: string }
  readonly result: Promise<unknown>
}

/** The reply to a request that continues as a job: 202 with the job and its location. */
export class AcceptedJob extends SpecialReply {
  readonly job: { readonly id: string }

  constructor(job: { readonly id: string }) {
    super()
    this.job = job
  }
}
