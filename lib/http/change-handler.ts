import type { Services } from './services.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { waitAtMost } from '#lib/async/time-limit.ts'
import { withAudit } from './audit.ts'
import type { RequestContext } from './context.ts'
import type { Route } from './endpoint.ts'
import { type StartedJob, AcceptedJob } from '#lib/calls/accepted-job.ts'
import type { IdempotentRequest } from '#lib/calls/idempotent-request.ts'
import type { AppOptions } from './options.ts'
import { noPreferences, readPreferences } from './prefer.ts'
import type { LimitWaiting } from './wait-limit.ts'

const toIdempotentRequest = (
  { id, endpoint }: Route,
  key: string,
  asJob: boolean,
  context: RequestContext,
): IdempotentRequest => ({
  key,
  caller: context.requireCaller().id,
  operation: asJob ? `${id} as a job` : id,
  content: [context.params, context.query, context.body],
  secret: endpoint.secretReply === true,
  resumable: endpoint.resumable === true,
})

/**
 * Wraps the handler of an endpoint that changes something. The handler runs once per Idempotency-Key, as a job when the
 * request prefers one, and not at all when the audit could not record the change.
 */
export const createChangeHandler = (
  route: Route,
  services: Services,
  options: AppOptions & { readonly limitWaiting: LimitWaiting },
): ((context: RequestContext) => Promise<unknown>) => {
  const { id, endpoint } = route
  const { startJob, runIdempotent } = options
  const job = startJob && endpoint.job && { start: startJob, kind: endpoint.job }
  const takesPreferences = endpoint.acceptsWait === true || endpoint.job !== undefined
  // A WebSocket cannot be repeated, and bytes are too many to remember.
  const isRepeatable = endpoint.media !== 'websocket' && !endpoint.bodyMedia
  return async context => {
    const { respondAsync, wait } = takesPreferences ? readPreferences(context.header('prefer')) : noPreferences
    const kind = job?.kind
    const asJob = kind !== undefined && (kind.detached === true || respondAsync)
    const waits = wait !== undefined && !kind?.detached && (asJob || endpoint.acceptsWait === true)
    const waitLimit = waits && !asJob ? { milliseconds: wait * 1000 } : undefined
    if (waits) context.preferenceApplied = `wait=${wait}`
    if (waitLimit) context.progress = { ...noProgress, waitLimit: { ...waitLimit, signal: context.signal } }
    options.audit?.admit(endpoint.essential === true)

    const callHandler = (progress: ProgressReporter): unknown => {
      context.progress = progress
      return endpoint.handle(context, services)
    }
    const startAsJob = (
      { start, kind }: NonNullable<typeof job>,
      run: (progress: ProgressReporter) => unknown,
    ): Promise<StartedJob> => {
      const { params, query, body } = context
      return start({ operation: id, kind, caller: context.requireCaller(), params, query, body }, run)
    }
    let started: StartedJob | undefined
    const handleNow =
      job && asJob
        ? async () => {
            started = await startAsJob(job, withAudit(options.audit, context, callHandler))
            return started.job
          }
        : job?.kind.always
          ? // Such a job outlives the caller, so its wait does not end with the connection.
            async () => (await startAsJob(job, progress => callHandler({ ...progress, waitLimit }))).result
          : () => endpoint.handle(context, services)
    const handle = waitLimit ? () => options.limitWaiting(context.requireCaller().id, handleNow) : handleNow
    const key = isRepeatable ? context.header('idempotency-key') : null
    const value =
      runIdempotent && key !== null && context.caller
        ? await runIdempotent(toIdempotentRequest(route, key, asJob, context), handle)
        : await handle()
    // A replayed Idempotency-Key gives the job of the first request, so `started` is not set then.
    const result = waits && started ? await waitAtMost(started.result, wait * 1000) : undefined
    if (!asJob || result) return result ? result.value : value
    if (respondAsync) context.preferenceApplied = waits ? `respond-async, wait=${wait}` : 'respond-async'
    // With `asJob` the handler gives the job, and `runIdempotent` what the handler gave.
    return new AcceptedJob(value as AcceptedJob['job'])
  }
}
