import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isDiskFull, syncFolder } from '#lib/platform/files.ts'
import { broken, quoted } from '../pack/broken.ts'
import { createNames } from '../pack/names.ts'
import { newFile, type UnpackedFile, type UnpackLimits } from '../pack/read.ts'
import { createSparseWriter } from '../pack/sparse-file.ts'
import type { ChunkedFile } from './chunk-list.ts'
import { readChunked } from './read-chunked.ts'
import type { FetchChunk } from './stored-chunk.ts'

interface Options {
  readonly limits: Pick<UnpackLimits, 'bytes' | 'ratio'>
  /** Bytes that have come so far, of the list and of each chunk once. */
  readonly fetched: () => number
  readonly signal: AbortSignal
  /** Is told how many bytes of files, holes included, are there. */
  readonly onProgress: (bytesOfFiles: number) => void
}

/** Bytes that may be written before the ratio is looked at. */
const freeOfRatio = 1024 * 1024

/**
 * Writes files that are kept as chunks into an existing empty folder that nobody else writes to, with their holes. They
 * are synced, and keep 755 of their modes. The caller removes the folder after a failure. Throws `invalid` for files that
 * are not what the list says, or beyond the limits, `no-space`, and what `fetch` does.
 */
export const unpackChunked = async (
  files: readonly ChunkedFile[],
  fetch: FetchChunk,
  folder: string,
  { limits, fetched, signal, onProgress }: Options,
): Promise<readonly UnpackedFile[]> => {
  const names = createNames()
  const write = createSparseWriter()
  const folders = [folder]
  let [written, done] = [0, 0]

  if (files.reduce((sum, { size }) => sum + size, 0) > limits.bytes)
    throw broken(`its files have more than ${limits.bytes} bytes`)

  const unpackFile = async (chunked: ChunkedFile): Promise<void> => {
    const { name, mode, sha256 } = chunked
    for (const missing of names.add(name, 'file')) {
      await mkdir(join(folder, missing), { mode: 0o700 })
      folders.push(join(folder, missing))
    }
    await using file = await open(join(folder, name), newFile, 0o600 | (mode & 0o755))
    const found = await write(file, readChunked(fetch, chunked, signal), {
      onWrite: bytes => {
        written += bytes
        if (written > freeOfRatio && written > fetched() * limits.ratio)
          throw broken(`it grows to more than ${limits.ratio} times its size`)
      },
      onContent: bytes => {
        signal.throwIfAborted()
        done += bytes
        onProgress(done)
      },
    })
    if (found.sha256 !== sha256) throw broken(`${quoted(name)} has another SHA-256 than its list says`)
    await file.sync()
  }

  try {
    for (const file of files) await unpackFile(file)
    for (const made of folders) await syncFolder(made)
  } catch (error) {
    if (isDiskFull(error))
      throw new ServiceError('no-space', 'There is not enough space on the disk to unpack. Make room, and try again.')
    throw error
  }
  return files.map(({ name, size, sha256 }) => ({ name, size, sha256 }))
}
