import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { findLogStart, listRotatedParts, type RotatedPart } from './serial-parts.ts'

/** A piece of what a guest has written to its serial line. Offsets count all bytes that it has ever written. */
export interface SerialOutput {
  readonly bytes: Buffer
  /** The offset of the first of these bytes. It is later than asked for if the output in between is not kept any more. */
  readonly offset: number
  /** The offset of the oldest byte that is kept. */
  readonly start: number
  /** The offset after the newest byte. */
  readonly end: number
}

/** The name of the log in a machine's folder. */
export const serialLogName = 'serial.log'

/** The guest's hypervisor can write to the folder, so a link or a pipe there is not followed. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** How often a reading is tried again because the log was rotated meanwhile. */
const attempts = 5

const openRegular = async (path: string): Promise<FileHandle | undefined> => {
  const file = await open(path, flags).catch(() => undefined)
  if (!file || (await file.stat()).isFile()) return file
  await file.close()
  return undefined
}

const readAt = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, length)), 0, Math.max(0, length), position)
  return buffer.subarray(0, bytesRead)
}

/** An open log with its place in all output. */
interface Located extends AsyncDisposable {
  readonly file: FileHandle | undefined
  readonly rotated: RotatedPart | undefined
  readonly logStart: number
  readonly end: number
}

const locate = async (home: string): Promise<Located> => {
  const path = join(home, serialLogName)
  for (let left = attempts; ; left -= 1) {
    const file = await openRegular(path)
    const [rotated] = listRotatedParts(path)
    const inode = (await file?.stat())?.ino
    const present = await lstat(path).catch(() => undefined)
    // The log may have been rotated between these calls. Its place is known only if it is still the same file.
    if (present?.ino === inode || left === 1) {
      const logStart = findLogStart(rotated)
      const end = logStart + ((await file?.stat())?.size ?? 0)
      return { file, rotated, logStart, end, [Symbol.asyncDispose]: async () => file?.close() }
    }
    await file?.close()
  }
}

const readRotated = async ({ path, start }: RotatedPart, from: number, length: number): Promise<Buffer> => {
  const file = await openRegular(path)
  if (!file) return Buffer.alloc(0)
  try {
    return await readAt(file, from - start, length)
  } finally {
    await file.close()
  }
}

/**
 * Reads at most `length` bytes of a guest's output from an offset on, from the log in the machine's folder. A negative offset counts
 * from the end. No bytes mean that there are none yet, or that none were asked for.
 */
export const readSerialOutput = async (home: string, from: number, length: number): Promise<SerialOutput> => {
  await using located = await locate(home)
  const { file, rotated, logStart, end } = located
  const start = rotated?.start ?? logStart
  const offset = Math.min(Math.max(from < 0 ? end + from : from, start), end)
  if (length === 0) return { bytes: Buffer.alloc(0), offset, start, end }
  if (rotated && offset < logStart) {
    const bytes = await readRotated(rotated, offset, Math.min(length, logStart - offset))
    // The part was removed meanwhile, so the output goes on with the log.
    if (bytes.length > 0) return { bytes, offset, start, end }
  }
  const first = Math.max(offset, logStart)
  const bytes = file ? await readAt(file, first - logStart, Math.min(length, end - first)) : Buffer.alloc(0)
  return { bytes, offset: first, start: offset < first ? first : start, end }
}
