import { ServiceError } from '#lib/errors.ts'
import { statusOf, toServiceError } from '#lib/http/errors.ts'
import type { Work } from '#lib/work.ts'
import type { StoredJob } from './schemas.ts'
import { createSteps } from './steps.ts'

/** A job under way. */
export interface Runner {
  readonly owner: string
  /** What the work gives, or fails with. */
  readonly result: Promise<unknown>
  /** Settles when the work is over and its end is on record: with how it ended, or undefined when it is to go on later. */
  readonly ended: Promise<'completed' | 'failed' | undefined>
  /** Tells the work to give up for this reason, and gives the job as it is then. */
  cancel(reason: string): Promise<StoredJob>
  /** Tells the work to give up because the service ends. */
  abort(): void
}

interface Options {
  readonly job: StoredJob
  readonly work: (work: Work) => unknown
  /** Is told of a defect. */
  readonly failed: (error: unknown) => void
  /** Whether the job stays as it is when its work ends with this, to go on at the next start. */
  readonly leave: (error: ServiceError) => boolean
  /** Puts the job on record and tells of it; never rejects. */
  readonly keep: (job: StoredJob, messages: readonly string[]) => Promise<unknown>
}

/** Milliseconds between two reports of how far a step is. */
const reportEvery = 1_000

const idOf = (value: unknown): string | undefined => {
  const { id } = Object(value) as { id?: unknown }
  return typeof id === 'string' ? id : undefined
}

/** What Node's own functions fail with once their signal says to give up has the reason inside. */
const reasonOf = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.name === 'AbortError' && thrown.cause instanceof ServiceError
    ? thrown.cause
    : thrown

/** Runs the work of a job and keeps its record: at once when a step begins or ends, else at most once a second. */
export const createRunner = ({ job: first, work, failed, leave, keep }: Options): Runner => {
  let job = first
  let writing: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const controller = new AbortController()
  let over = false

  const change = (changes: Partial<StoredJob>, ...messages: readonly string[]): Promise<unknown> => {
    clearTimeout(timer)
    timer = undefined
    const shownSteps = steps.show()
    job = {
      ...job,
      progress: Math.max(job.progress, steps.progress()),
      ...(shownSteps.length > 0 && { steps: [...shownSteps] }),
      ...changes,
      updated_at: new Date().toISOString(),
    }
    const now = job
    writing = writing.then(() => keep(now, messages))
    return writing
  }
  const steps = createSteps(when => {
    if (over) return
    if (when === 'now') void change({}, 'UPDATED')
    else timer ??= setTimeout(() => void change({}, 'UPDATED'), reportEvery)
  })

  const complete = async (value: unknown): Promise<void> => {
    const id = idOf(value)
    const end = { state: 'completed', progress: 100, request: undefined } as const
    const outcome = { result: value, ...(id !== undefined && { result_record_id: id }) }
    await change({ ...end, ...outcome }, 'UPDATED', 'COMPLETED')
  }
  const fail = async (thrown: unknown): Promise<'failed' | undefined> => {
    const error = toServiceError(thrown, job.id)
    if (error !== thrown) failed(thrown)
    clearTimeout(timer)
    if (leave(error)) return void (await writing)
    steps.fail(error.message)
    await change({ state: 'failed', error: error.message, code: statusOf(error.fault), request: undefined }, 'UPDATED')
    return 'failed'
  }
  const { promise: result, resolve: succeed, reject: refuse } = Promise.withResolvers<unknown>()
  // Mostly nobody waits for it.
  result.catch(() => {})

  const run = async (): Promise<'completed' | 'failed' | undefined> => {
    await change({ state: 'running' }, 'UPDATED')
    let value: unknown
    try {
      controller.signal.throwIfAborted()
      value = await work({ id: job.id, signal: controller.signal, ...steps.report })
      over = true
    } catch (thrown) {
      const error = reasonOf(thrown)
      over = true
      const outcome = await fail(error)
      refuse(error)
      return outcome
    }
    await complete(value)
    succeed(value)
    return 'completed'
  }

  return {
    owner: job.owner,
    result,
    ended: run(),
    async cancel(reason) {
      const already = controller.signal.aborted
      await change({ message: reason, cancelled: reason }, ...(already ? [] : ['UPDATED']))
      controller.abort(new ServiceError('conflict', reason))
      return job
    },
    abort: () =>
      controller.abort(new ServiceError('unavailable', 'The service was shut down while this was under way.')),
  }
}
