import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { toFault, toStatus } from '#lib/calls/statuses.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { isUnreachable, type StoredHost } from '../stored-host.ts'
import type { AskHost } from './host-client.ts'
import { cleanText, toHostError, toHostRefusal, unwrapReply } from './host-refusal.ts'

/** What this service reads of a job of a host. */
const HostJob = z.looseObject({
  id: z.uuid(),
  state: z.enum(['pending', 'running', 'completed', 'failed']),
  error: z.string().transform(cleanText).optional(),
  code: z.int().optional(),
  result: z.unknown().optional(),
  steps: z
    .array(
      z.looseObject({
        name: z.string().max(64),
        display_name: z.string().max(256),
        weight: z.number().nonnegative().max(1_000),
        state: z.string(),
        value: z.number().nonnegative().optional(),
        total: z.number().nonnegative().optional(),
        unit: z.enum(['bytes', 'percent']).optional(),
        message: z.string().transform(cleanText).optional(),
      }),
    )
    .max(64)
    .optional(),
})
type HostJob = z.infer<typeof HostJob>

const isRunning = ({ state }: HostJob): boolean => state === 'pending' || state === 'running'

const parseJob = (host: StoredHost, body: unknown): HostJob => {
  const { data, error } = HostJob.safeParse(body)
  if (!data)
    throw new ServiceError('upstream', `The host ${host.name} does not tell of a job as vmhost does.`, { cause: error })
  return data
}

interface FollowedJob {
  readonly host: StoredHost
  readonly user: Principal
  /** The reply that has started the job. */
  readonly started: unknown
  readonly progress: ProgressReporter
}

/** Waits for the end of a job on a host, and reports its progress here. Gives its result. Throws its refusal. */
export type FollowHostJob = (job: FollowedJob) => Promise<unknown>

interface Options {
  readonly ask: AskHost
  /** The host as it is now. */
  readonly getHost: (id: string) => StoredHost | undefined
}

/** Milliseconds between two reads of a job. */
const pollInterval = 1_000
/** Milliseconds that a host has for the reply to one of them. */
const timeout = 10_000
/** Milliseconds that a cancelled job of a host has to end. */
const cancelTimeout = 15_000
/** The most bytes of a job with its result, which is stored. */
export const maxJobBytes = 256 * 1024

/** Makes the function that reports the steps of a job of a host as those of a job here. */
const createStepReporter = (progress: ProgressReporter): ((job: HostJob) => void) => {
  const last = new Map<string, string>()
  let planned: ReadonlySet<string> | undefined
  return ({ steps = [] }) => {
    if (steps.length === 0) return
    if (!planned)
      progress.plan(
        steps.map(({ name, display_name: title, weight, unit }) => ({ name, title, weight, ...(unit && { unit }) })),
      )
    planned ??= new Set(steps.map(({ name }) => name))
    for (const { name, state, value, total, message } of steps) {
      // A step that was not announced has no place in the progress here.
      if (!planned.has(name)) continue
      const before = last.get(name)
      last.set(name, state)
      const isNew = before !== state
      if (isNew && state === 'skipped') progress.skip(name, message ?? '')
      const hasBegun = state === 'running' || state === 'completed'
      if (hasBegun && (before === undefined || before === 'pending')) progress.begin(name)
      // A short step may have ended since the last look.
      if ((state === 'running' || (isNew && state === 'completed')) && value !== undefined && total !== undefined)
        progress.advance(name, value, total)
      if (isNew && state === 'completed') progress.end(name)
    }
  }
}

/** Waits until the job is to be read again, or until the signal is aborted. It leaves no listener, because jobs are long. */
const waitForNextPoll = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise(resolve => {
    const finish = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, pollInterval)
    if (signal?.aborted) finish()
    else signal?.addEventListener('abort', finish)
  })

export const createFollowHostJob =
  ({ ask, getHost }: Options): FollowHostJob =>
  async ({ host, user, started, progress }) => {
    let job = parseJob(host, started)
    const path = toServedPath(`/v1/jobs/${job.id}`)
    // This service follows a job that it has started for the user, whatever the user may see of jobs.
    const follower: Principal = { ...user, claims: new Set([...user.claims, 'JOB_MANAGER_LIST_OWN']) }
    const reportSteps = createStepReporter(progress)
    const { signal } = progress

    const read = async (): Promise<HostJob> => {
      const current = getHost(host.id) ?? host
      try {
        const reply = await ask(current, follower, { method: 'GET', path, timeout, maxReplyBytes: maxJobBytes })
        return parseJob(host, unwrapReply(current, reply))
      } catch (error) {
        // The job goes on while its host does not answer for a moment, such as for a restart.
        const isTransient = isFault(error, 'unavailable') || isFault(error, 'timeout')
        if (!isTransient || isUnreachable(current)) throw error
        return job
      }
    }
    const cancel = async (): Promise<void> => {
      // A shutdown of this service ends no work on hosts: the next start goes on to follow it.
      if (isFault(signal?.reason, 'unavailable')) return
      const reply = await ask(host, follower, { method: 'POST', path: `${path}/cancel`, timeout })
      // A job that has ended already cannot be cancelled.
      if (reply.status >= 400 && reply.status !== toStatus('conflict')) throw toHostRefusal(host, reply)
      // What the job has done is settled when it has ended. The host leaves work behind that does not react.
      const deadline = Date.now() + cancelTimeout
      while (isRunning(job) && Date.now() < deadline) {
        await waitForNextPoll(undefined)
        job = await read()
      }
    }

    while (isRunning(job)) {
      if (signal?.aborted) {
        await cancel()
        throw signal.reason
      }
      reportSteps(job)
      await waitForNextPoll(signal)
      job = await read()
    }
    reportSteps(job)
    if (job.state === 'completed') return job.result
    throw toHostError(host, toFault(job.code ?? 500), job.error ?? `The job ${job.id} failed.`)
  }
