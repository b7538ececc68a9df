import { setTimeout as wait } from 'node:timers/promises'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Job } from '#lib/client/api.gen.ts'
import type { Progress } from './job-progress.ts'
import type { Client } from '#lib/client/types.ts'
import { describeFailure } from '../exit-code.ts'

/** Milliseconds between two requests for the job. They begin short, because small jobs end at once. */
const [minInterval, maxInterval] = [100, 1_000]
/** Milliseconds after the first Ctrl-C in which a second one cancels the job. */
const cancelWindow = 2_000

interface FollowedJob {
  readonly id: string
  /** The name of the job in messages: `push`, `pull`. */
  readonly operation: string
  /**
   * The first line. It is printed when Ctrl-C no longer ends the program at once, because that would end it without a message.
   */
  readonly firstLine?: string
  /** True if the same command follows the job again, and the service resumes the job after a restart. */
  readonly isRepeatable: boolean
}

/**
 * Handles Ctrl-C: the first one stops following the job, a second one soon after it cancels the job, and a third one exits at
 * once.
 */
const handleInterrupts = (
  client: Client,
  { id, operation, isRepeatable }: FollowedJob,
  progress: Progress,
): Disposable => {
  let timer: NodeJS.Timeout | undefined
  let isCancelling = false
  const leave = (): never => {
    // The bars are removed, because a bar that does not move would look like a job that hangs.
    progress.show([])
    // The exit status that shells use for a program that SIGINT has ended.
    process.exit(130)
  }
  const onInterrupt = (): void => {
    if (isCancelling) leave()
    if (!timer) {
      timer = setTimeout(leave, cancelWindow)
      progress.print(
        `The ${operation} continues in the service as the job ${id}. ${isRepeatable ? 'The same command follows it again.' : `\`vmhost jobs show ${id}\` shows its progress.`}\nTo cancel it: Ctrl-C once more within ${cancelWindow / 1000} seconds, or later \`vmhost jobs cancel ${id}\`.`,
      )
      return
    }
    clearTimeout(timer)
    isCancelling = true
    progress.print(`Cancelling the ${operation} …`)
    client.api.jobs.cancel({ params: { id } }).catch((error: unknown) => progress.print(describeFailure(error)))
  }
  process.on('SIGINT', onInterrupt)
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      process.off('SIGINT', onInterrupt)
    },
  }
}

/**
 * Shows the progress of a job until the job has ended, and returns the job. Ctrl-C exits the program with status 130. Throws
 * `unavailable` if the service ends meanwhile.
 */
export const followJob = async (client: Client, followed: FollowedJob, progress: Progress): Promise<Job> => {
  using _interrupts = handleInterrupts(client, followed, progress)
  if (followed.firstLine !== undefined) progress.print(followed.firstLine)
  try {
    for (let pause = minInterval; ; pause = Math.min(2 * pause, maxInterval)) {
      const job = await client.api.jobs.show({ params: { id: followed.id } })
      progress.show(job.steps ?? [])
      if (job.state === 'completed' || job.state === 'failed') return job
      await wait(pause)
    }
  } catch (error) {
    if (!isFault(error, 'unavailable')) throw error
    throw new ServiceError(
      'unavailable',
      followed.isRepeatable
        ? `The service has ended. The next start continues the ${followed.operation} as the job ${followed.id}; then the same command follows it.`
        : `The service has ended, and with it the ${followed.operation}. Start the service, then try again.`,
    )
  }
}
