import type { Authenticate } from '#lib/access/credential.ts'
import type { RedeemTicket } from '#lib/access/session-reference.ts'
import type { Services } from './services.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { Audit } from './audit.ts'
import type { RequestContext } from './context.ts'
import type { Cors } from './cors.ts'
import type { IdempotentRequest } from '#lib/calls/idempotent-request.ts'
import type { Route } from './endpoint.ts'
import type { Filter } from '#lib/calls/list-filter.ts'
import type { StartedJob, JobRequest } from '#lib/calls/accepted-job.ts'
import type { Outcome } from './outcome.ts'
import type { AnswerPage } from './pages.ts'

export interface AppOptions {
  readonly routes: readonly Route[]
  readonly services: Partial<Services>
  readonly authenticate: Authenticate
  /** Uses up the ticket of a request. Without it tickets are ignored. */
  readonly redeemTicket?: RedeemTicket
  /** Parses an X-Filter header; required when an endpoint takes one. `isField` tells whether the listed items can have a path. */
  readonly parseFilter?: (header: string, isField: (path: string) => boolean) => Promise<Filter>
  /** Called after each request with its outcome. */
  readonly onOutcome: (context: RequestContext, outcome: Outcome) => void
  /** Which pages of other sites may call the service; none when left out. */
  readonly cors?: Cors | undefined
  /** Answers requests for the pages of the web console; undefined for any other request. Without it there are no pages. */
  readonly answerPage?: AnswerPage | undefined
  /** Headers of every reply, in addition to the security headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Answers a repeated Idempotency-Key with the reply of the first request. Without it the header is ignored. */
  readonly runIdempotent?: <T>(once: IdempotentRequest, work: () => Promise<T> | T) => Promise<T>
  /** Runs a call as a job. Without it `respond-async` is ignored. */
  readonly startJob?: (request: JobRequest, work: (progress: ProgressReporter) => unknown) => Promise<StartedJob>
  /** Records changes and refusals. The reply waits for the entry, and a change that cannot be recorded is not made. */
  readonly audit?: Audit
  /** Checks every reply against its schema. It costs one parse per reply, so it is for tests and development. */
  readonly checkReplies: boolean
}
