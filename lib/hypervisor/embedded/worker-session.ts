import { messageOf, ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { WorkerReply, SerialInput, WorkerEvent, WorkerRequest, WorkerData } from './protocol.ts'
import { abortable } from '#lib/async/abortable.ts'

/** How a session ended on its own; `problem` is set if it crashed. */
export interface SessionEnd {
  readonly problem?: string
}

/** One run of a machine in a worker thread, from boot or restore to its end. */
export interface Session {
  /** Resolves when the guest has halted or the thread has ended. */
  readonly ended: Promise<SessionEnd>
  /**
   * `run`, `pause` and `save` resolve when they are done. They reject if the session ends first, or with the deadline's
   * reason.
   */
  run(deadline: AbortSignal): Promise<void>
  pause(deadline: AbortSignal): Promise<void>
  save(path: string, deadline: AbortSignal): Promise<void>
  /** Sends serial input to the guest. */
  sendInput(text: string): void
  /** Terminates the thread at once; resolves when it is gone. */
  terminate(): Promise<void>
}

interface Options {
  readonly startWorker: StartWorker
  /** The name of the machine, for messages. */
  readonly name: string
  readonly data: WorkerData
  readonly deadline: AbortSignal
}

const isNoSpace = (text: string): boolean => text.includes('ENOSPC')

/**
 * Starts a worker thread with the machine, which does not run yet. Throws `conflict` if the saved state in `data` is unusable,
 * `upstream` if the emulator cannot be started, and the deadline's reason.
 */
export const startSession = async ({ startWorker, name, data, deadline }: Options): Promise<Session> => {
  const worker = startWorker('embedded', data)
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<SessionEnd>()
  const pendingRequests = new Map<number, PromiseWithResolvers<void>>()
  let lastNumber = 0

  const onEnd = (ending: SessionEnd, refusal: ServiceError): void => {
    ended.resolve(ending)
    ready.reject(refusal)
    for (const pending of pendingRequests.values()) pending.reject(refusal)
    pendingRequests.clear()
  }
  const onCrash = (reason: string): void => {
    const problem = isNoSpace(reason) ? 'crashed: the host has no space left for its disk' : 'crashed'
    onEnd({ problem }, new ServiceError('upstream', `The emulator of ${name} has ended: ${reason}`))
  }
  const onReply = ({ number, error }: WorkerReply): void => {
    const pending = pendingRequests.get(number)
    pendingRequests.delete(number)
    if (error === undefined) pending?.resolve()
    else
      pending?.reject(new ServiceError(isNoSpace(error) ? 'no-space' : 'upstream', `The emulator of ${name}: ${error}`))
  }
  worker.on('message', (message: WorkerEvent | WorkerReply) => {
    if ('number' in message) onReply(message)
    else if (message.event === 'ready') ready.resolve()
    else if (message.event === 'halted')
      onEnd({}, new ServiceError('conflict', `${name} has powered itself off before that was done.`))
    else
      ready.reject(
        new ServiceError(
          'conflict',
          `The saved state of ${name} cannot be used: ${message.reason}. Put the right file back, or stop the machine by force to drop the state.`,
        ),
      )
  })
  worker.on('error', error => onCrash(messageOf(error)))
  worker.on('exit', () => onCrash('its thread was ended'))

  const sendRequest = async (
    request: { command: 'run' | 'pause' } | { command: 'save'; path: string },
    deadline: AbortSignal,
  ) => {
    lastNumber += 1
    const reply = Promise.withResolvers<void>()
    pendingRequests.set(lastNumber, reply)
    worker.postMessage({ number: lastNumber, ...request } satisfies WorkerRequest, [])
    await abortable(reply.promise, deadline)
  }
  const terminate = async (): Promise<void> => void (await worker.terminate())

  try {
    await abortable(ready.promise, deadline)
  } catch (error) {
    await terminate()
    throw error
  }
  return {
    ended: ended.promise,
    run: deadline => sendRequest({ command: 'run' }, deadline),
    pause: deadline => sendRequest({ command: 'pause' }, deadline),
    save: (path, deadline) => sendRequest({ command: 'save', path }, deadline),
    sendInput: text => worker.postMessage({ input: text } satisfies SerialInput, []),
    terminate,
  }
}
