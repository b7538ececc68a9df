import type { Socket } from 'node:net'
import { ServiceError } from '#lib/errors.ts'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import type { MachineView } from '../../driver.ts'
import type { SerialPort } from '../../serial-port.ts'
import type { Recorder } from './client.ts'

/** Milliseconds within which the recorder must connect to the serial line of a machine. */
const inputTimeout = 10_000

/** Bytes that may wait in memory because the guest does not take them. */
const maxWaitingBytes = 64 * 1024

/** Makes a serial port of a connection to the recorder (see `Recorder.openInput`). */
const createSerialInput = (socket: Socket): SerialPort => {
  // The recorder sends nothing after its reply, but only a socket that is read notices its end.
  socket.resume()
  socket.unref()
  return {
    write(bytes) {
      if (socket.destroyed || socket.writableEnded)
        throw new ServiceError('conflict', 'The guest has stopped, so it takes no input.')
      if (socket.writableLength + bytes.length > maxWaitingBytes && socket.writableLength > 0)
        throw new ServiceError('conflict', 'The guest does not take its input. Try again when it has read some.')
      socket.write(bytes)
    },
    close: () => void socket.end(),
  }
}

/**
 * Opens the serial line of a machine for input. Throws `conflict` unless it runs with a recorder, which a machine that an older version
 * has started does not.
 */
export const openSerialInput = async (
  recorder: Recorder,
  { id, name, state }: MachineView,
  isLegacy: boolean,
): Promise<SerialPort> => {
  if (state !== 'running') throw new ServiceError('conflict', `${name} is ${state}, so it takes no input.`)
  if (isLegacy)
    throw new ServiceError(
      'conflict',
      `${name} was started by an older version. Stop and start it, then it takes input.`,
    )
  using limit = createTimeLimit(inputTimeout, `The serial line of ${name} does not answer.`)
  return createSerialInput(await recorder.openInput(id, limit.signal))
}
