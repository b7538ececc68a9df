import { openSerialLog } from '../../files/serial-log.ts'

export interface SerialBuffer {
  /** Adds one byte of output. It is written at the end of the present turn of the event loop. */
  add(byte: number): void
  flush(): void
}

/** Buffers a guest's serial output, which comes byte by byte, and writes it to the log at `path` (`limit` in bytes). */
export const createSerialBuffer = (path: string, limit: number): SerialBuffer => {
  // Dropped output is not reported: a full disk also fails the guest's own writes, and the machine reports those.
  const log = openSerialLog(path, { limit, onDrop: () => {} })
  let buffered: number[] = []

  const flush = (): void => {
    const bytes = Uint8Array.from(buffered)
    buffered = []
    log.write(bytes)
  }
  return {
    add(byte) {
      if (buffered.length === 0) setImmediate(flush)
      buffered.push(byte)
    },
    flush,
  }
}
