import { messageOf, ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Answer, Input, Report, Request, WorkerData } from './protocol.ts'
import { within } from './within.ts'

/** How a machine stopped that was not told to by force; `problem` when it crashed. */
export interface Ending {
  readonly problem?: string
}

/** One run of a machine, from its boot or restoration to its end: a worker thread. */
export interface Session {
  /** Settles when the guest has halted or the thread has died, for whatever reason. */
  readonly ended: Promise<Ending>
  /** These three settle when it is done; they reject when the run ends before, and with the deadline's reason. */
  run(deadline: AbortSignal): Promise<void>
  pause(deadline: AbortSignal): Promise<void>
  save(path: string, deadline: AbortSignal): Promise<void>
  /** Serial input. */
  type(text: string): void
  /** Ends the thread at once, whatever it does; settles when it is gone. */
  end(): Promise<void>
}

interface Options {
  readonly startWorker: StartWorker
  /** For messages. */
  readonly name: string
  readonly data: WorkerData
  readonly deadline: AbortSignal
}

const isFull = (text: string): boolean => text.includes('ENOSPC')

/**
 * Starts a thread that holds the machine, not yet running. Throws `conflict` when the state in `data` is of no use,
 * `upstream` when the emulator cannot be started, and the deadline's reason.
 */
export const startSession = async ({ startWorker, name, data, deadline }: Options): Promise<Session> => {
  const worker = startWorker('embedded', data)
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Ending>()
  const waiting = new Map<number, PromiseWithResolvers<void>>()
  let count = 0

  const finish = (ending: Ending, refusal: ServiceError): void => {
    ended.resolve(ending)
    ready.reject(refusal)
    for (const one of waiting.values()) one.reject(refusal)
    waiting.clear()
  }
  const crash = (reason: string): void => {
    const problem = isFull(reason) ? 'crashed: the host has no space left for its disk' : 'crashed'
    finish({ problem }, new ServiceError('upstream', `The emulator of ${name} has ended: ${reason}`))
  }
  const answered = ({ number, failed }: Answer): void => {
    const one = waiting.get(number)
    waiting.delete(number)
    if (failed === undefined) one?.resolve()
    else one?.reject(new ServiceError(isFull(failed) ? 'no-space' : 'upstream', `The emulator of ${name}: ${failed}`))
  }
  worker.on('message', (message: Report | Answer) => {
    if ('number' in message) answered(message)
    else if (message.event === 'ready') ready.resolve()
    else if (message.event === 'halted')
      finish({}, new ServiceError('conflict', `${name} has powered itself off before that was done.`))
    else
      ready.reject(
        new ServiceError(
          'conflict',
          `The saved state of ${name} cannot be used: ${message.reason}. Put the right file back, or stop the machine by force to drop the state.`,
        ),
      )
  })
  worker.on('error', error => crash(messageOf(error)))
  worker.on('exit', () => crash('its thread was ended'))

  const ask = async (question: { ask: 'run' | 'pause' } | { ask: 'save'; path: string }, deadline: AbortSignal) => {
    count += 1
    const answer = Promise.withResolvers<void>()
    waiting.set(count, answer)
    worker.postMessage({ number: count, ...question } satisfies Request, [])
    await within(deadline, answer.promise)
  }
  const end = async (): Promise<void> => void (await worker.terminate())

  try {
    await within(deadline, ready.promise)
  } catch (error) {
    await end()
    throw error
  }
  return {
    ended: ended.promise,
    run: deadline => ask({ ask: 'run' }, deadline),
    pause: deadline => ask({ ask: 'pause' }, deadline),
    save: (path, deadline) => ask({ ask: 'save', path }, deadline),
    type: text => worker.postMessage({ type: text } satisfies Input, []),
    end,
  }
}
