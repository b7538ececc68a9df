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
  key: string,
  asJob: boolean,
  { route, caller, params, query, body }: RequestContext,
): IdempotentRequest => ({
  key,
  caller: caller!.id,
  operation: asJob ? `${route!.id} as a job` : route!.id,
  content: [params, query, body],
  secret: route!.endpoint.secretReply === true,
})

/**
 * Wraps the handler of an endpoint that changes something. The handler runs once per Idempotency-Key, as a job when the
 * request prefers one, and not at all when the audit could not record the change.
 */
export const createChangeHandler = (
  { id, endpoint }: Route,
  services: Services,
  options: AppOptions & { readonly limitWaiting: LimitWaiting },
): ((context: RequestContext) => Promise<unknown>) => {
  const takesPreferences = endpoint.acceptsWait === true || endpoint.job !== undefined
  return async context => {
    const { respondAsync, wait } = takesPreferences ? readPreferences(context.header('prefer')) : noPreferences
    const kind = options.startJob && endpoint.job
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
    const startJob = (run: (progress: ProgressReporter) => unknown): Promise<StartedJob> => {
      const { caller, params, query, body } = context
      return options.startJob!({ operation: id, kind: kind!, caller: caller!, params, query, body }, run)
    }
    let started: StartedJob | undefined
    const handleNow = asJob
      ? async () => {
          started = await startJob(withAudit(options.audit, context, callHandler))
          return started.job
        }
      : kind?.always
        ? // Such a job outlives the caller, so its wait does not end with the connection.
          async () => (await startJob(progress => callHandler({ ...progress, waitLimit }))).result
        : () => endpoint.handle(context, services)
    const handle = waitLimit ? () => options.limitWaiting(context.caller!.id, handleNow) : handleNow
    const key = options.runIdempotent ? context.header('idempotency-key') : null
    const value =
      key !== null && context.caller
        ? await options.runIdempotent!(toIdempotentRequest(key, asJob, context), handle)
        : await handle()
    // A replayed Idempotency-Key gives the job of the first request, so `started` is not set then.
    const result = waits && started ? await waitAtMost(started.result, wait * 1000) : undefined
    if (!asJob || result) return result ? result.value : value
    if (respondAsync) context.preferenceApplied = waits ? `respond-async, wait=${wait}` : 'respond-async'
    // With `asJob` the handler gives the job, and `runIdempotent` what the handler gave.
    return new AcceptedJob(value as AcceptedJob['job'])
  }
}
