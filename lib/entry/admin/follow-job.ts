import { setTimeout as wait } from 'node:timers/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { isSystemError } from '#lib/platform/files.ts'
import type { Progress } from './job-progress.ts'
import type { Ask } from './admin-client.ts'

/** Milliseconds between two looks at a job, at first and later: small ones end at once. */
const [soonest, latest] = [100, 1_000]
/** Milliseconds in which a second Ctrl-C cancels the job. */
const secondWithin = 2_000

interface Followed {
  readonly id: string
  /** `push`, `pull` */
  readonly operation: string
  /** The first line, which is said when Ctrl-C leaves the job already: a quick one would end the program without a word. */
  readonly opening?: string
  /** Whether the same command follows it again, and the service takes it up after its end. */
  readonly again: boolean
}

/** The first Ctrl-C goes away from the job, a second one soon after it cancels it, and one after that goes away at once. */
const onInterrupts = (ask: Ask, { id, operation, again }: Followed, progress: Progress): Disposable => {
  let timer: NodeJS.Timeout | undefined
  let cancelling = false
  const leave = (): never => {
    // A bar that stood still would look like one of a job that does.
    progress.show([])
    // What shells say of a program that SIGINT has ended.
    process.exit(130)
  }
  const interrupted = (): void => {
    if (cancelling) leave()
    if (!timer) {
      timer = setTimeout(leave, secondWithin)
      progress.say(
        `The ${operation} goes on in the service, as the job ${id}. ${again ? 'The same command follows it again.' : `\`vmhost jobs show ${id}\` tells how far it is.`}\nTo cancel it: Ctrl-C once more within ${secondWithin / 1000} seconds, or later \`vmhost jobs cancel ${id}\`.`,
      )
      return
    }
    clearTimeout(timer)
    cancelling = true
    progress.say(`Cancelling the ${operation} …`)
    ask('POST', `/jobs/${id}/cancel`).catch((error: unknown) => progress.say(messageOf(error)))
  }
  process.on('SIGINT', interrupted)
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      process.off('SIGINT', interrupted)
    },
  }
}

/**
 * Shows how far a job is until it has ended, and gives it then. Ctrl-C ends the program with 130. Throws `unavailable`
 * when the service ends meanwhile.
 */
export const followJob = async (ask: Ask, followed: Followed, progress: Progress): Promise<Job> => {
  using _ = onInterrupts(ask, followed, progress)
  if (followed.opening !== undefined) progress.say(followed.opening)
  try {
    for (let pause = soonest; ; pause = Math.min(2 * pause, latest)) {
      const job = await ask<Job>('GET', `/jobs/${followed.id}`)
      progress.show(job.steps ?? [])
      if (job.state === 'completed' || job.state === 'failed') return job
      await wait(pause)
    }
  } catch (error) {
    if (!['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'].some(code => isSystemError(error, code))) throw error
    throw new ServiceError(
      'unavailable',
      followed.again
        ? `The service has ended. The ${followed.operation} goes on at its next start, as the job ${followed.id}; the same command then follows it.`
        : `The service has ended, and with it the ${followed.operation}. Start it, and try again.`,
    )
  }
}
