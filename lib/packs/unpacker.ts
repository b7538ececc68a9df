import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isDiskFull, isSystemError, syncFolder } from '#lib/platform/files.ts'
import { createPeriodicSync } from '#lib/platform/periodic-fdatasync.ts'
import { InvalidPackError } from './pack-errors.ts'
import { createNameSet } from './file-names.ts'
import type { ZeroRun } from './hole-finder.ts'
import { createSparseWriter } from './sparse-file.ts'

export interface UnpackedFile {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
}

export interface UnpackLimits {
  /** Maximum number of files and folders. */
  readonly entries: number
  /** Maximum number of bytes of all files, with holes. */
  readonly bytes: number
  /**
   * Maximum number of bytes to write for each byte of the pack. Holes do not count, because a disk that is nearly empty
   * packs to nearly nothing.
   */
  readonly ratio: number
}

interface UnpackerOptions {
  readonly limits: UnpackLimits
  /** Returns how many bytes of the pack have arrived. */
  readonly getPackedSize: () => number
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes of files, with holes, so far. */
  readonly onProgress?: ((bytesOfFiles: number) => void) | undefined
}

/** The attributes of a file in a pack. */
interface FileAttributes {
  readonly name: string
  readonly mode: number
  readonly modifiedAt?: Date | undefined
}

/** Bytes that may be written before the ratio counts. Small texts pack to almost nothing and harm nobody. */
const minSizeForRatio = 1024 * 1024

/** Opens only files that did not exist, and follows no link, which could lead out of the folder. */
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Writes the files of a pack into an existing empty folder that nobody else writes to, and nothing outside of it. */
export interface Unpacker {
  /** Adds a name and makes the folders that it needs. Throws `invalid` for a bad name, and beyond the limits. */
  add(name: string, kind: 'file' | 'folder', size: number): Promise<void>
  /**
   * Writes a file that was added, with its holes, and returns its size. The file is synced as it grows and at its end. It
   * keeps its time, and its mode as far as 755 allows. `onData` gets the content. Throws `invalid` beyond the limits, and
   * what reading the content throws.
   */
  write(
    file: FileAttributes,
    content: AsyncIterable<Uint8Array | ZeroRun>,
    onData?: (bytes: Uint8Array) => void,
  ): Promise<number>
  /** Makes the folders durable. */
  sync(): Promise<void>
}

export const createUnpacker = (
  folder: string,
  { limits, getPackedSize, signal, onProgress: onTotal }: UnpackerOptions,
): Unpacker => {
  const names = createNameSet()
  const writeSparse = createSparseWriter()
  const folders = [folder]
  let [doneBytes, writtenBytes, announcedBytes] = [0, 0, 0]

  const onWrite = (bytes: number): void => {
    writtenBytes += bytes
    if (writtenBytes > minSizeForRatio && writtenBytes > getPackedSize() * limits.ratio)
      throw new InvalidPackError(`it grows to more than ${limits.ratio} times its size`)
  }
  const onProgress = (bytes: number): void => {
    signal?.throwIfAborted()
    doneBytes += bytes
    onTotal?.(doneBytes)
  }

  return {
    async add(name, kind, size) {
      const newFolders = names.add(name, kind)
      if (names.count > limits.entries)
        throw new InvalidPackError(`it has more than ${limits.entries} files and folders`)
      announcedBytes += size
      if (announcedBytes > limits.bytes) throw new InvalidPackError(`its files have more than ${limits.bytes} bytes`)
      for (const newFolder of newFolders) {
        await mkdir(join(folder, newFolder), { mode: 0o700 })
        folders.push(join(folder, newFolder))
      }
    },
    async write({ name, mode, modifiedAt }, content, onData) {
      await using file = await open(join(folder, name), createFlags, 0o600 | (mode & 0o755))
      const sync = createPeriodicSync(file)
      const callbacks = { onWrite, onWritten: sync.onWritten, onProgress, onData }
      const size = await writeSparse(file, content, callbacks).finally(sync.waitForIdle)
      if (modifiedAt) await file.utimes(modifiedAt, modifiedAt)
      await file.sync()
      return size
    },
    async sync() {
      for (const path of folders) await syncFolder(path)
    },
  }
}

/** Runs `work`. Throws `no-space` when the disk is full or its file system has no files of that size. */
export const withUnpackErrors = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isDiskFull(error) && !isSystemError(error, 'EFBIG')) throw error
    throw new ServiceError('no-space', 'There is not enough space on the disk to unpack. Make room, and try again.', {
      cause: error,
    })
  }
}
