import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { toStatus, toServiceError } from '#lib/calls/statuses.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { abortGracePeriod, abortableAfterGrace } from '#lib/async/abortable.ts'
import type { StoredJob } from './schemas.ts'
import { createSteps } from './steps.ts'

/** A job whose work runs in this process. */
export interface RunningJob {
  /** The name of the job in the log. */
  readonly name: string
  readonly owner: string
  /** Settles as the work does. */
  readonly result: Promise<unknown>
  /** Resolves when the outcome is stored. It is undefined when the next start resumes the job. */
  readonly ended: Promise<'completed' | 'failed' | undefined>
  /** Aborts the work for this reason, and returns the job as it is now. */
  cancel(reason: string): Promise<StoredJob>
  /** Aborts the work because the service shuts down. */
  abort(): void
  /** Rejects `result` before the work has ended, because the service shuts down and cannot wait any longer. */
  abandon(): void
}

/** What an event says about a job. */
type EventName = 'UPDATED' | 'COMPLETED'

interface Options {
  readonly job: StoredJob
  readonly work: (progress: ProgressReporter) => unknown
  /** Called with each unexpected error. */
  readonly onDefect: (error: unknown) => void
  /** True if the next start resumes a job whose work failed with this error. The record then stays as it is. */
  readonly isResumable: (error: ServiceError) => boolean
  /** Stores the job and publishes these events about it. Never rejects. */
  readonly save: (job: StoredJob, eventNames: readonly EventName[]) => Promise<unknown>
}

/** Milliseconds between two reports of the progress of a step. */
const reportInterval = 1_000
/** Milliseconds within which the work of a cancelled job must end. A single operation in that work has half of it. */
const cancelTimeout = 2 * abortGracePeriod

const createUnresponsiveError = (reason: unknown): unknown =>
  isFault(reason, 'unavailable')
    ? reason
    : new ServiceError(
        'conflict',
        `${messageOf(reason)} Its work did not react within ${cancelTimeout / 1000} seconds. A machine that it uses stays busy until the work has ended, at the latest until the service is started again.`,
      )

const shutdownMessage = 'The service was shut down while this was running.'

/** Tells a caller who waits for the result that the next start resumes the job, so that the caller does not start it again. */
const createResumesLaterError = ({ id }: StoredJob): ServiceError =>
  new ServiceError('unavailable', `${shutdownMessage} The next start resumes it as the job ${id}.`)

/** Reads the id of the record that the work has made. */
const readRecordId = (value: unknown): string | undefined => {
  // `Object` makes an object of any value, so that its `id` can be read.
  const { id }: { id?: unknown } = Object(value)
  return typeof id === 'string' ? id : undefined
}

/** Returns the reason of an abort. Node's functions reject with an AbortError, which has the reason as its cause. */
const unwrapAbortReason = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.name === 'AbortError' && thrown.cause instanceof ServiceError
    ? thrown.cause
    : thrown

/** Runs the work of a job. Stores its record at once when a step begins or ends, else at most once a second. */
export const runJob = ({ job: initialJob, work, onDefect, isResumable, save }: Options): RunningJob => {
  let job = initialJob
  /** Settles when the last record is written. Records are written one after the other. */
  let writing: Promise<unknown> = Promise.resolve()
  let reportTimer: NodeJS.Timeout | undefined
  const controller = new AbortController()
  /** True when the work has ended. Late reports of its progress are ignored then. */
  let hasEnded = false

  const update = (changes: Partial<StoredJob>, ...eventNames: readonly EventName[]): Promise<unknown> => {
    clearTimeout(reportTimer)
    reportTimer = undefined
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
    const current = job
    writing = writing.then(() => save(current, eventNames))
    return writing
  }
  const steps = createSteps(when => {
    if (hasEnded) return
    if (when === 'now') void update({}, 'UPDATED')
    else reportTimer ??= setTimeout(() => void update({}, 'UPDATED'), reportInterval)
  })

  const complete = async (value: unknown): Promise<void> => {
    const recordId = readRecordId(value)
    const record = recordId === undefined ? {} : { result_record_id: recordId }
    await update(
      { state: 'completed', progress: 100, request: undefined, result: value, ...record },
      'UPDATED',
      'COMPLETED',
    )
  }
  const fail = async (thrown: unknown): Promise<'failed' | undefined> => {
    const error = toServiceError(thrown, job.id)
    if (error !== thrown) onDefect(thrown)
    clearTimeout(reportTimer)
    if (isResumable(error)) {
      await writing
      return undefined
    }
    steps.fail(error.message)
    await update({ state: 'failed', error: error.message, code: toStatus(error.fault), request: undefined }, 'UPDATED')
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
        toError: createUnresponsiveError,
      })
      hasEnded = true
    } catch (thrown) {
      const error = unwrapAbortReason(thrown)
      hasEnded = true
      const outcome = await fail(error)
      rejectResult(outcome === undefined ? createResumesLaterError(job) : error)
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
      const wasAborted = controller.signal.aborted
      await update({ message: reason, cancelled: reason }, ...(wasAborted ? [] : (['UPDATED'] as const)))
      controller.abort(new ServiceError('conflict', reason))
      return job
    },
    abort: () => controller.abort(new ServiceError('unavailable', shutdownMessage)),
    abandon: () =>
      rejectResult(job.request ? createResumesLaterError(job) : new ServiceError('unavailable', shutdownMessage)),
  }
}
