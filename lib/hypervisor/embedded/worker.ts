import type { MessagePort } from 'node:worker_threads'
import { messageOf } from '#lib/errors.ts'
import { createEmulator, UnusableStateError, type Emulator } from './emulator.ts'
import type { WorkerReply, LineInput, WorkerEvent, WorkerRequest, WorkerData } from './protocol.ts'

/** Resolves to a picture if the request asks for one. */
const runRequest = async (emulator: Emulator, request: WorkerRequest): Promise<Uint8Array<ArrayBuffer> | void> => {
  switch (request.command) {
    case 'run':
      return emulator.run()
    case 'pause':
      return emulator.pause()
    case 'save':
      return emulator.save(request.path)
    case 'take screenshot':
      return emulator.takeScreenshot()
  }
}

/**
 * Runs one machine until the thread is terminated. An uncaught error ends the thread, which counts as a crash of the machine.
 */
export const serve = async (port: MessagePort, data: object): Promise<void> => {
  const report = (message: WorkerEvent | WorkerReply): void => port.postMessage(message)
  let emulator: Emulator
  try {
    // `worker-session.ts` starts the thread with it.
    emulator = await createEmulator(data as WorkerData, report)
  } catch (error) {
    if (!(error instanceof UnusableStateError)) throw error
    report({ event: 'unusable', reason: error.message })
    return
  }
  let queue = Promise.resolve()
  port.on('message', (message: WorkerRequest | LineInput) => {
    if ('input' in message) return emulator.sendInput(message.line, message.input)
    queue = queue
      .then(() => runRequest(emulator, message))
      .then(
        picture => report({ number: message.number, ...(picture && { picture }) }),
        (error: unknown) => report({ number: message.number, error: messageOf(error) }),
      )
  })
  report({ event: 'ready' })
}
