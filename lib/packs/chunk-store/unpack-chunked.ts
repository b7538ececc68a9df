import { createUnpacker, type UnpackedFile, type UnpackLimits, withUnpackErrors } from '../unpacker.ts'
import type { IndexedFile } from '../chunks/chunk-index.ts'
import { readChunkedContent } from './read-chunked.ts'
import type { FetchChunk } from './stored-chunk.ts'

interface UnpackChunkedOptions {
  readonly limits: UnpackLimits
  /** Returns how many bytes have arrived: the index, and each chunk once. */
  readonly getFetchedSize: () => number
  readonly signal: AbortSignal
  /** Called with the number of bytes of files, with holes, so far. */
  readonly onProgress: (bytesOfFiles: number) => void
}

/**
 * Writes files that are stored as chunks into an existing empty folder that nobody else writes to. Holes stay holes. Files
 * are synced and keep their modes as far as 755 allows. Each chunk is verified by its own digest and the index by the digest
 * of the pack, so the files are not digested again and a hole costs nothing, however large it is. The caller removes the
 * folder after a failure. Returns the files. Throws `invalid` beyond the limits, `no-space`, and what `fetchChunk` throws.
 */
export const unpackChunkedFiles = async (
  files: readonly IndexedFile[],
  fetchChunk: FetchChunk,
  folder: string,
  { limits, getFetchedSize, signal, onProgress }: UnpackChunkedOptions,
): Promise<readonly UnpackedFile[]> =>
  withUnpackErrors(async () => {
    const unpacker = createUnpacker(folder, { limits, getPackedSize: getFetchedSize, signal, onProgress })
    for (const file of files) {
      await unpacker.add(file.name, 'file', file.size)
      await unpacker.write(file, readChunkedContent(fetchChunk, file, signal))
    }
    await unpacker.sync()
    return files.map(({ name, size, sha256 }) => ({ name, size, sha256 }))
  })
