import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { findLogStart, listRotatedParts } from './serial-parts.ts'

/**
 * Does not follow links and does not block: a process that can write to the folder must neither redirect nor delay the writes.
 */
const safeFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK
const appendFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | safeFlags
const blockSize = 1 << 20
/**
 * Minimum of milliseconds between two reports for one log: a disk that is full now and then must not fill the service's log.
 */
const reportInterval = 60_000

interface Options {
  /** Maximum size in bytes. Before the file exceeds it, it is rotated to `….START` (see `RotatedPart`). */
  readonly limit: number
  /** Called, at most once a minute, when output cannot be written and is dropped. */
  readonly onDrop: (error: unknown) => void
}

export interface SerialLog extends Disposable {
  /** Appends output. Drops what cannot be written, since lost output of a guest must not fail anything else. */
  write(bytes: Uint8Array): void
}

const getRotatedPath = (path: string): string => `${path}.1`

const getFileSize = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Opens a regular file. Throws for anything else. */
const openRegular = (path: string, flags: number): number => {
  const file = openSync(path, flags, 0o600)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new Error(`${path} is no regular file`)
}

/** Creates `to`, which must not exist, from the last `length` bytes of `from`. */
const copyTail = (from: string, to: string, length: number): void => {
  const input = openRegular(from, constants.O_RDONLY | safeFlags)
  try {
    const output = openSync(to, 'wx', 0o600)
    try {
      const block = Buffer.alloc(Math.min(length, blockSize))
      let position = Math.max(0, fstatSync(input).size - length)
      for (let remaining = length; remaining > 0;) {
        const bytesRead = readSync(input, block, 0, Math.min(block.length, remaining), position)
        if (bytesRead === 0) return
        for (let done = 0; done < bytesRead;) done += writeSync(output, block, done, bytesRead - done)
        position += bytesRead
        remaining -= bytesRead
      }
    } finally {
      closeSync(output)
    }
  } finally {
    closeSync(input)
  }
}

/**
 * Limits the size of a log that another process appends to: if it is longer than `limit` bytes, its end is copied to the file with
 * `.1` behind the name, and the file is truncated. On a full disk the content is lost, but the limit still holds.
 */
export const limitLogSize = (path: string, limit: number): void => {
  if (getFileSize(path) <= limit) return
  const temporary = `${path}.new`
  try {
    rmSync(getRotatedPath(path), { force: true })
    rmSync(temporary, { force: true })
    copyTail(path, temporary, limit)
    renameSync(temporary, getRotatedPath(path))
  } catch {
    rmSync(temporary, { force: true })
  }
  try {
    const file = openRegular(path, constants.O_WRONLY | safeFlags)
    ftruncateSync(file)
    closeSync(file)
  } catch {
    // The log was removed meanwhile, or replaced by something that is not a regular file.
  }
}

/** Shortens the newest rotated part to its last `limit` bytes, and removes the others. The log was written with a larger limit. */
const shorten = (path: string, limit: number): void => {
  const [newest, ...older] = listRotatedParts(path)
  for (const part of older) rmSync(part.path)
  if (!newest || newest.size <= limit) return
  const end = findLogStart(newest)
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  try {
    copyTail(newest.path, temporary, limit)
    renameSync(temporary, `${path}.${end - limit}`)
  } catch {
    rmSync(temporary, { force: true })
    closeSync(openSync(`${path}.${end}`, 'wx', 0o600))
  }
  rmSync(newest.path)
}

/**
 * Rotates a log, and removes its older part. What was rotated keeps its last `limit` bytes; on a full disk it may keep less, but
 * its end has the same offset.
 */
const rotate = (path: string, limit: number): void => {
  const older = listRotatedParts(path)
  const size = getFileSize(path)
  const rotated = `${path}.${findLogStart(older[0])}`
  renameSync(path, rotated)
  for (const part of older) if (part.path !== rotated) rmSync(part.path)
  if (size > limit) shorten(path, limit)
}

/** Opens a guest's serial log. The file and its rotated part together never exceed twice the limit. */
export const openSerialLog = (path: string, { limit, onDrop }: Options): SerialLog => {
  let file: number | undefined
  let size = 0
  let lastReportAt = -Infinity

  const close = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  const open = (): number => {
    shorten(path, limit)
    if (getFileSize(path) > limit) rotate(path, limit)
    const opened = openRegular(path, appendFlags)
    size = fstatSync(opened).size
    return opened
  }
  const append = (bytes: Uint8Array): void => {
    file ??= open()
    if (size > 0 && size + bytes.length > limit) {
      close()
      rotate(path, limit)
      file = open()
    }
    for (let done = 0; done < bytes.length;) {
      const written = writeSync(file, bytes, done)
      done += written
      size += written
    }
  }
  const write = (bytes: Uint8Array): void => {
    try {
      append(bytes)
    } catch (error) {
      close()
      const now = performance.now()
      if (now - lastReportAt < reportInterval) return
      lastReportAt = now
      onDrop(error)
    }
  }
  // Creates the file, so that readers find it before the guest's first output.
  write(new Uint8Array())
  return { write, [Symbol.dispose]: close }
}
