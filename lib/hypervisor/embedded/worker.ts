import type { MessagePort } from 'node:worker_threads'
import { messageOf } from '#lib/errors.ts'
import { createEmulator, UnusableState, type Emulator } from './emulator.ts'
import type { Answer, Input, Report, Request, WorkerData } from './protocol.ts'

const perform = (emulator: Emulator, request: Request): Promise<void> => {
  switch (request.ask) {
    case 'run':
      return emulator.run()
    case 'pause':
      return emulator.pause()
    case 'save':
      return emulator.save(request.path)
  }
}

/** Is one machine until the thread is terminated. An error that is not caught here ends the thread: the machine has crashed. */
export const serve = async (port: MessagePort, data: object): Promise<void> => {
  const report = (message: Report | Answer): void => port.postMessage(message)
  let emulator: Emulator
  try {
    emulator = await createEmulator(data as WorkerData, () => report({ event: 'halted' }))
  } catch (error) {
    if (!(error instanceof UnusableState)) throw error
    report({ event: 'unusable', reason: error.message })
    return
  }
  let last = Promise.resolve()
  port.on('message', (message: Request | Input) => {
    if ('type' in message) return emulator.type(message.type)
    last = last
      .then(() => perform(emulator, message))
      .then(
        () => report({ number: message.number }),
        (error: unknown) => report({ number: message.number, failed: messageOf(error) }),
      )
  })
  report({ event: 'ready' })
}
