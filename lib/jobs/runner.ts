import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { statusOf, toServiceError } from '#lib/calls/statuses.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { abortGracePeriod, abortableAfterGrace } from '#lib/async/abortable.ts'
import type { StoredJob } from './schemas.ts'
import { createSteps } from './steps.ts'

/** A running job. */
export interface Runner {
  /** The name of the job in the log. */
  readonly name: string
  readonly owner: string
  /** Settles as the work does. */
  readonly result: Promise<unknown>
  /** Settles with the outcome when it is stored; with undefined when the job will be resumed at the next start. */
  readonly ended: Promise<'completed' | 'failed' | undefined>
  /** Aborts the work for this reason, and gives the present job. */
  cancel(reason: string): Promise<StoredJob>
  /** Aborts the work because the service shuts down. */
  abort(): void
  /** Rejects `result` although the work has not ended, because the service shuts down. */
  abandon(): void
}

interface Options {
  readonly job: StoredJob
  readonly work: (work: ProgressReporter) => unknown
  /** Called with each unexpected error. */
  readonly onDefect: (error: unknown) => void
  /** Whether a job whose work failed with this error will be resumed at the next start. Its record is kept then. */
  readonly isResumable: (error: ServiceError) => boolean
  /** Stores the job and publishes events about it. Never rejects. */
  readonly save: (job: StoredJob, messages: readonly string[]) => Promise<unknown>
}

/** Milliseconds between two reports of the progress of a step. */
const reportInterval = 1_000
/** Milliseconds that the work of a cancelled job has to end. Longer than a single operation in it has. */
const cancelTimeout = 2 * abortGracePeriod

const unresponsiveError = (reason: unknown): unknown =>
  isFault(reason, 'unavailable')
    ? reason
    : new ServiceError(
        'conflict',
        `${messageOf(reason)} Its work did not react within ${cancelTimeout / 1000} seconds. A machine that it uses stays busy until the work has ended, at the latest until the service is started again.`,
      )

const shutdownMessage = 'The service was shut down while this was running.'

/** The error for a caller that waits for a job which the next start resumes; nobody should start it twice. */
const resumesLaterError = ({ id }: StoredJob): ServiceError =>
  new ServiceError('unavailable', `${shutdownMessage} The next start resumes it as the job ${id}.`)

const readId = (value: unknown): string | undefined => {
  const { id }: { id?: unknown } = Object(value)
  return typeof id === 'string' ? id : undefined
}

/** Node's functions reject with an AbortError when their signal is aborted. Gives the reason inside, or the error itself. */
const unwrapAbortReason = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.name === 'AbortError' && thrown.cause instanceof ServiceError
    ? thrown.cause
    : thrown

/** Runs the work of a job and stores its record: at once when a step begins or ends, otherwise at most once a second. */
export const createRunner = ({ job: first, work, onDefect, isResumable, save }: Options): Runner => {
  let job = first
  let writing: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const controller = new AbortController()
  let isOver = false

  const update = (changes: Partial<StoredJob>, ...messages: readonly string[]): Promise<unknown> => {
    clearTimeout(timer)
    timer = undefined
    const stepList = steps.list()
    job = {
      ...job,
      progress: Math.max(job.progress, Math.floor(steps.progress())),
      // Exact, because an attempt after a restart counts as progress only when it gets further than all before.
      reached: Math.max(job.reached ?? 0, steps.progress()),
      ...(stepList.length > 0 && { steps: [...stepList] }),
      ...changes,
      updated_at: new Date().toISOString(),
    }
    const now = job
    writing = writing.then(() => save(now, messages))
    return writing
  }
  const steps = createSteps(when => {
    if (isOver) return
    if (when === 'now') void update({}, 'UPDATED')
    else timer ??= setTimeout(() => void update({}, 'UPDATED'), reportInterval)
  })

  const complete = async (value: unknown): Promise<void> => {
    const id = readId(value)
    const end = { state: 'completed', progress: 100, request: undefined } as const
    const outcome = { result: value, ...(id !== undefined && { result_record_id: id }) }
    await update({ ...end, ...outcome }, 'UPDATED', 'COMPLETED')
  }
  const fail = async (thrown: unknown): Promise<'failed' | undefined> => {
    const error = toServiceError(thrown, job.id)
    if (error !== thrown) onDefect(thrown)
    clearTimeout(timer)
    if (isResumable(error)) return void (await writing)
    steps.fail(error.message)
    await update({ state: 'failed', error: error.message, code: statusOf(error.fault), request: undefined }, 'UPDATED')
    return 'failed'
  }
  const { promise: result, resolve: resolveResult, reject: rejectResult } = Promise.withResolvers<unknown>()
  // Usually nobody waits for the result.
  result.catch(() => {})

  const perform = async (): Promise<unknown> => {
    controller.signal.throwIfAborted()
    return work({
      id: job.id,
      signal: controller.signal,
      waitLimit: { milliseconds: Infinity },
      ...steps.report,
    })
  }
  const run = async (): Promise<'completed' | 'failed' | undefined> => {
    await update({ state: 'running' }, 'UPDATED')
    let value: unknown
    try {
      value = await abortableAfterGrace(controller.signal, perform(), {
        gracePeriod: cancelTimeout,
        toError: unresponsiveError,
      })
      isOver = true
    } catch (thrown) {
      const error = unwrapAbortReason(thrown)
      isOver = true
      const outcome = await fail(error)
      rejectResult(outcome === undefined ? resumesLaterError(job) : error)
      return outcome
    }
    await complete(value)
    resolveResult(value)
    return 'completed'
  }

  return {
    name: `${job.job_type}/${job.job_operation} ${job.id}`,
    owner: job.owner,
    result,
    ended: run(),
    async cancel(reason) {
      const already = controller.signal.aborted
      await update({ message: reason, cancelled: reason }, ...(already ? [] : ['UPDATED']))
      controller.abort(new ServiceError('conflict', reason))
      return job
    },
    abort: () => controller.abort(new ServiceError('unavailable', shutdownMessage)),
    abandon: () =>
      rejectResult(job.request ? resumesLaterError(job) : new ServiceError('unavailable', shutdownMessage)),
  }
}
