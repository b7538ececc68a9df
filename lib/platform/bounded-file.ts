import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'
import { formatByteSize } from '#lib/byte-size.ts'

/** The most bytes of a file with one record, such as the definition of a machine. */
export const maxRecordSize = 2 ** 20
/** The most bytes of a file with many lines or rows, such as a journal. */
export const maxJournalSize = 64 * 2 ** 20

/** Throws `unavailable` for a file of more than `maxBytes`, so that no file of the state fills the memory. */
export const assertSize = (path: string, size: number, maxBytes: number): void => {
  if (size > maxBytes)
    throw new ServiceError(
      'unavailable',
      `${path} has ${size} bytes, and such a file has at most ${formatByteSize(maxBytes)}. Find out what has written to it, and restore it from a backup.`,
    )
}

/** Reads a file as a whole. Throws `unavailable` for more than `maxBytes`, and errors of the system. */
export const readBounded = async (path: string, maxBytes = maxRecordSize): Promise<Buffer<ArrayBuffer>> => {
  await using handle = await open(path)
  assertSize(path, (await handle.stat()).size, maxBytes)
  return await handle.readFile()
}

/** Reads a file as `readBounded` does, at once. */
export const readBoundedSync = (path: string, maxBytes = maxRecordSize): Buffer => {
  const file = openSync(path, 'r')
  try {
    assertSize(path, fstatSync(file).size, maxBytes)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** Bytes at the end of a log that are enough for its last lines. */
const tailSize = 64 * 1024

/** Reads the end of a log, which can be of any length, as text. Returns an empty text if it cannot be read. */
export const readTail = async (path: string): Promise<string> => {
  try {
    await using handle = await open(path)
    const { size } = await handle.stat()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(tailSize), 0, tailSize, Math.max(0, size - tailSize))
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  }
}
