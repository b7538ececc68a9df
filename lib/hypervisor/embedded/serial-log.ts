import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'

/** The log moves aside to `….1` when it would grow beyond this many bytes. */
const limit = 1 << 20

export interface SerialLog {
  /** Takes one byte of output; it is written at the end of the present turn of the event loop. */
  add(byte: number): void
  flush(): void
}

/** Appends a guest's serial output to the file `path`, of which at most the last 2 MiB are kept. */
export const openSerialLog = (path: string): SerialLog => {
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  let waiting: number[] = []

  const flush = (): void => {
    const bytes = Uint8Array.from(waiting)
    waiting = []
    if (size > 0 && size + bytes.length > limit) {
      closeSync(file)
      renameSync(path, `${path}.1`)
      file = openSync(path, 'a', 0o600)
      size = 0
    }
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
    size += bytes.length
  }
  return {
    add(byte) {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(byte)
    },
    flush,
  }
}
