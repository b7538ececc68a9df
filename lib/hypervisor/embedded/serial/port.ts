import { ServiceError } from '#lib/errors.ts'
import type { SerialPort } from '../../serial-port.ts'
import type { Line } from '../protocol.ts'

/** The input of a machine's serial lines. */
export interface SerialPorts {
  /**
   * Sends bytes to the guest. Throws `conflict` if so much waits already that the guest does not take. More than the limit can be
   * sent at once when nothing waits.
   */
  send(line: Line, bytes: Uint8Array): void
  /** Called with the number of bytes that the guest has taken. */
  onTaken(line: Line, count: number): void
}

/** Bytes that may wait for a guest to take them. */
const limit = 256 * 1024

export const createSerialPorts = (
  name: string,
  post: (message: { readonly line: Line; readonly input: Uint8Array }) => void,
): SerialPorts => {
  const waiting: Record<Line, number> = { console: 0, agent: 0 }
  return {
    send(line, bytes) {
      if (waiting[line] > 0 && waiting[line] + bytes.length > limit)
        throw new ServiceError(
          'conflict',
          `The guest of ${name} does not take its serial input: ${waiting[line]} bytes wait. Send less, or try again later.`,
        )
      waiting[line] += bytes.length
      post({ line, input: bytes })
    },
    onTaken(line, count) {
      waiting[line] -= count
    },
  }
}

/** Returns the port of a machine's console. `send` throws if the machine does not run. */
export const createSerialPort = (send: (bytes: Uint8Array) => void): SerialPort => {
  let isClosed = false
  return {
    write(bytes) {
      if (!isClosed) send(bytes)
    },
    close() {
      isClosed = true
    },
  }
}
