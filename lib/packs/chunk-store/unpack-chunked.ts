import { createUnpacker, type UnpackedFile, unpacking, type UnpackLimits } from '../unpacker.ts'
import type { IndexedFile } from '../chunks/chunk-index.ts'
import { readChunked } from './read-chunked.ts'
import type { FetchChunk } from './stored-chunk.ts'

interface Options {
  readonly limits: UnpackLimits
  /** Bytes that have come so far, of the list and of each chunk once. */
  readonly fetched: () => number
  readonly signal: AbortSignal
  /** Is told how many bytes of files, holes included, are there. */
  readonly onProgress: (bytesOfFiles: number) => void
}

/**
 * Writes files that are kept as chunks into an existing empty folder that nobody else writes to, with their holes. They
 * are synced, and keep 755 of their modes. Each chunk is what its name says, and the list is what the pack's digest says, so
 * that the files are not digested once more: a hole costs nothing, however large it is. The caller removes the folder after
 * a failure. Throws `invalid` beyond the limits, `no-space`, and what `fetch` does.
 */
export const unpackChunked = (
  files: readonly IndexedFile[],
  fetch: FetchChunk,
  folder: string,
  { limits, fetched, signal, onProgress }: Options,
): Promise<readonly UnpackedFile[]> =>
  unpacking(async () => {
    const unpacker = createUnpacker(folder, { limits, packed: fetched, signal, onProgress })
    for (const file of files) {
      await unpacker.add(file.name, 'file', file.size)
      await unpacker.write(file, readChunked(fetch, file, signal))
    }
    await unpacker.sync()
    return files.map(({ name, size, sha256 }) => ({ name, size, sha256 }))
  })
