import { messageOf, ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Line, WorkerReply, LineInput, WorkerEvent, WorkerRequest, WorkerData } from './protocol.ts'
import { createSerialPorts } from './serial/port.ts'
import { abortable } from '#lib/async/abortable.ts'

/** How a session ended on its own. */
export interface SessionEnd {
  /** Set if it crashed. */
  readonly problem?: string
  /** True if the guest asks to be booted again. */
  readonly isReboot?: boolean
}

/** One run of a machine in a worker thread, from boot or restore to its end. */
export interface Session {
  /** Resolves when the guest has halted or asks for a boot, or the thread has ended. */
  readonly ended: Promise<SessionEnd>
  /**
   * `run`, `pause` and `save` resolve when they are done. They reject if the session ends first, or with the deadline's
   * reason.
   */
  run(deadline: AbortSignal): Promise<void>
  pause(deadline: AbortSignal): Promise<void>
  save(path: string, deadline: AbortSignal): Promise<void>
  /** Draws the screen as a PNG. Rejects as `run`. */
  takeScreenshot(deadline: AbortSignal): Promise<Uint8Array>
  /** Sends serial input to the guest. Throws `conflict` if the guest does not take it. */
  sendInput(line: Line, bytes: Uint8Array): void
  /** True if the machine has a line for the guest agent. */
  readonly hasAgentLine: boolean
  /** Sets the receiver of whether a program of the guest has the agent's line open, and calls it if it is open already. */
  onAgentLine(receiver: (isOpen: boolean) => void): void
  /** Sets the receiver of what the guest sends on the agent's line. */
  onAgentOutput(receiver: (bytes: Uint8Array) => void): void
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
  const pendingRequests = new Map<number, PromiseWithResolvers<WorkerReply>>()
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
  const serialPorts = createSerialPorts(name, message => worker.postMessage(message satisfies LineInput, []))
  let isAgentLineOpen = false
  let onAgentLine: (isOpen: boolean) => void = () => {}
  let onAgentOutput: (bytes: Uint8Array) => void = () => {}

  const onEvent = (message: WorkerEvent): void => {
    switch (message.event) {
      case 'ready':
        return ready.resolve()
      case 'unusable': {
        const why = `The saved state of ${name} cannot be used: ${message.reason}.`
        const advice = 'Put the right file back, or stop the machine by force to drop the state.'
        return ready.reject(new ServiceError('conflict', `${why} ${advice}`))
      }
      case 'ended': {
        const { isReboot } = message
        const what = isReboot ? 'restarted itself' : 'powered itself off'
        return onEnd({ isReboot }, new ServiceError('conflict', `${name} has ${what} before that was done.`))
      }
      case 'taken':
        return serialPorts.onTaken(message.line, message.count)
      case 'agent line':
        isAgentLineOpen = message.isOpen
        return onAgentLine(isAgentLineOpen)
      case 'agent output':
        return onAgentOutput(message.bytes)
    }
  }
  const onReply = (reply: WorkerReply): void => {
    const { number, error } = reply
    const pending = pendingRequests.get(number)
    pendingRequests.delete(number)
    if (error === undefined) pending?.resolve(reply)
    else
      pending?.reject(new ServiceError(isNoSpace(error) ? 'no-space' : 'upstream', `The emulator of ${name}: ${error}`))
  }
  worker.on('message', (message: WorkerEvent | WorkerReply) => {
    if ('number' in message) onReply(message)
    else onEvent(message)
  })
  worker.on('error', error => onCrash(messageOf(error)))
  worker.on('exit', () => onCrash('its thread was ended'))

  const sendRequest = async (
    request: { command: 'run' | 'pause' | 'take screenshot' } | { command: 'save'; path: string },
    deadline: AbortSignal,
  ): Promise<WorkerReply> => {
    lastNumber += 1
    const reply = Promise.withResolvers<WorkerReply>()
    pendingRequests.set(lastNumber, reply)
    worker.postMessage({ number: lastNumber, ...request } satisfies WorkerRequest, [])
    return abortable(reply.promise, deadline)
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
    run: async deadline => void (await sendRequest({ command: 'run' }, deadline)),
    pause: async deadline => void (await sendRequest({ command: 'pause' }, deadline)),
    save: async (path, deadline) => void (await sendRequest({ command: 'save', path }, deadline)),
    async takeScreenshot(deadline) {
      const { picture } = await sendRequest({ command: 'take screenshot' }, deadline)
      if (!picture) throw new ServiceError('upstream', `The emulator of ${name} has drawn no picture of its screen.`)
      return picture
    },
    sendInput: serialPorts.send,
    hasAgentLine: data.isLinux,
    onAgentLine(receiver) {
      onAgentLine = receiver
      if (isAgentLineOpen) receiver(true)
    },
    onAgentOutput(receiver) {
      onAgentOutput = receiver
    },
    terminate,
  }
}
