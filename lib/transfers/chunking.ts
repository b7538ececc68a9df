import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { formatByteSize } from '#lib/byte-size.ts'
import { ServiceError } from '#lib/errors.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { encodeChunkIndex, type ListedFile, maxIndexSize } from '#lib/packs/chunks/chunk-index.ts'
import type { RepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { writeChunkedContent } from '#lib/packs/chunk-store/write-chunked.ts'
import { createDigest } from '#lib/packs/digest.ts'
import { compareByName, type PackFile } from '#lib/packs/pack-files.ts'
import { readContent } from '#lib/packs/tar/pack-tar.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { writePackJournal } from './pack-journal.ts'
import { type PackedMachine, rangeSize } from './packing.ts'

interface ChunkingOptions {
  readonly signal: AbortSignal
  /** Called with the number of bytes of the files that are on the provider. */
  readonly onProgress: (bytes: number) => void
  /** Called at the end with a text that says how many chunks there are, and how many of them were sent. */
  readonly onMessage: (message: string) => void
}

const describeChunks = (total: number, sent: { readonly chunks: number; readonly bytes: number }): string => {
  const count = total === 1 ? '1 chunk' : `${total} chunks`
  if (sent.chunks === 0) return `${count}, none of them new`
  return `${count}, of which ${sent.chunks} (${formatByteSize(sent.bytes)}) ${sent.chunks === 1 ? 'was' : 'were'} new`
}

/**
 * Sends the chunks of the files that the provider does not have, and writes their index into a folder of this host. The
 * caller keeps `lock` until the index is on the provider too. Returns the index as a pack. Throws `invalid` for a machine
 * with more chunks than an index can hold.
 */
export const writeMachineChunks = async (
  folder: string,
  files: readonly PackFile[],
  { provider, lock }: { readonly provider: Provider; readonly lock: RepositoryLock },
  { signal, onProgress, onMessage }: ChunkingOptions,
): Promise<Pick<PackedMachine, 'pack' | 'chunkBytes'>> => {
  const storedSizes = new Map<string, number>()
  const listedFiles: ListedFile[] = []
  let done = 0
  const sent = { chunks: 0, bytes: 0 }
  for (const file of files.toSorted(compareByName)) {
    const { name, mode } = file
    const fileDigest = createHash('sha256')
    const readAndDigest = async function* (): AsyncGenerator<Uint8Array> {
      for await (const bytes of readContent(file)) {
        fileDigest.update(bytes)
        yield bytes
      }
    }
    const doneBefore = done
    const written = await writeChunkedContent(provider, lock, readAndDigest(), {
      signal,
      onProgress: bytes => onProgress(doneBefore + bytes),
    })
    done += written.content.size
    sent.chunks += written.sentChunks
    sent.bytes += written.sentBytes
    for (const [sha256, bytes] of written.storedSizes) storedSizes.set(sha256, bytes)
    listedFiles.push({ ...written.content, name, mode: mode & 0o755, sha256: fileDigest.digest('hex') })
  }
  onMessage(describeChunks(storedSizes.size, sent))
  const index = Buffer.from(encodeChunkIndex(listedFiles))
  if (index.length > maxIndexSize)
    throw new ServiceError('invalid', 'The machine has too many chunks for a chunk index. Push it as a pack.')
  const digest = createDigest(rangeSize)
  digest.update(index)
  const pack = { file: join(folder, 'pack'), digest: digest.end() }
  await writeFileAtomic(pack.file, index)
  await writePackJournal(folder, 'chunks', pack)
  return { pack, chunkBytes: storedSizes.values().reduce((sum, bytes) => sum + bytes, 0) }
}
