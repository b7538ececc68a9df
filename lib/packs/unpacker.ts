import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isDiskFull, isSystemError, syncFolder } from '#lib/platform/files.ts'
import { createSteadySync } from '#lib/platform/periodic-fdatasync.ts'
import { broken } from './damaged.ts'
import { createNames } from './file-names.ts'
import { createSparseWriter, type Zeros } from './sparse-file.ts'

export interface UnpackedFile {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
}

export interface UnpackLimits {
  /** Files and folders. */
  readonly entries: number
  /** Bytes of all files, holes included. */
  readonly bytes: number
  /** Bytes to write for each byte of the pack. Holes do not count: a disk that is nearly empty packs to nearly nothing. */
  readonly ratio: number
}

interface Options {
  readonly limits: UnpackLimits
  /** Bytes of the pack that have come so far. */
  readonly packed: () => number
  readonly signal?: AbortSignal | undefined
  /** Is told how many bytes of files, holes included, have gone by. */
  readonly onProgress?: ((bytesOfFiles: number) => void) | undefined
}

/** A file of a pack. */
interface File {
  readonly name: string
  readonly mode: number
  readonly modifiedAt?: Date | undefined
}

/** Bytes that may be written before the ratio is looked at: small texts shrink to nothing and harm nobody. */
const freeOfRatio = 1024 * 1024

/** Only new files, and no link in place of one, which could lead out. */
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Puts what a pack has into an existing empty folder that nobody else writes to, and nothing outside of it. */
export interface Unpacker {
  /** Takes in a name and makes the folders that it needs. Throws `invalid` for a bad name, and beyond the limits. */
  add(name: string, kind: 'file' | 'folder', size: number): Promise<void>
  /**
   * Writes a file that was added, with its holes; it is synced as it grows and at its end, and keeps its time and 755 of
   * its mode. Gives its size. `onBytes` is told its content. Throws `invalid` beyond the limits, and what the content does.
   */
  write(file: File, content: AsyncIterable<Uint8Array | Zeros>, onBytes?: (bytes: Uint8Array) => void): Promise<number>
  /** Makes the folders stay. */
  sync(): Promise<void>
}

export const createUnpacker = (folder: string, { limits, packed, signal, onProgress }: Options): Unpacker => {
  const names = createNames()
  const write = createSparseWriter()
  const folders = [folder]
  let [done, written, content] = [0, 0, 0]

  const onWrite = (bytes: number): void => {
    written += bytes
    if (written > freeOfRatio && written > packed() * limits.ratio)
      throw broken(`it grows to more than ${limits.ratio} times its size`)
  }
  const onContent = (bytes: number): void => {
    signal?.throwIfAborted()
    done += bytes
    onProgress?.(done)
  }

  return {
    async add(name, kind, size) {
      const missing = names.add(name, kind)
      if (names.count > limits.entries) throw broken(`it has more than ${limits.entries} files and folders`)
      content += size
      if (content > limits.bytes) throw broken(`its files have more than ${limits.bytes} bytes`)
      for (const one of missing) {
        await mkdir(join(folder, one), { mode: 0o700 })
        folders.push(join(folder, one))
      }
    },
    async write({ name, mode, modifiedAt }, bytes, onBytes) {
      await using file = await open(join(folder, name), newFile, 0o600 | (mode & 0o755))
      const sync = createSteadySync(file)
      const told = { onWrite, onContent, onWritten: sync.wrote, onBytes }
      const size = await write(file, bytes, told).finally(sync.idle)
      if (modifiedAt) await file.utimes(modifiedAt, modifiedAt)
      await file.sync()
      return size
    },
    async sync() {
      for (const made of folders) await syncFolder(made)
    },
  }
}

/** Unpacks. Throws `no-space` where the disk has no room, or takes no files of that size. */
export const unpacking = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isDiskFull(error) && !isSystemError(error, 'EFBIG')) throw error
    throw new ServiceError('no-space', 'There is not enough space on the disk to unpack. Make room, and try again.', {
      cause: error,
    })
  }
}
