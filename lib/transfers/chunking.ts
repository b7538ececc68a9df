import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { byteSize } from '#lib/byte-size.ts'
import { ServiceError } from '#lib/errors.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { type ChunkedFile, encodeChunkedFiles, largestList } from '#lib/packs/chunks/chunk-index.ts'
import type { Hold } from '#lib/packs/chunk-store/repository-lock.ts'
import { writeChunked } from '#lib/packs/chunk-store/write-chunked.ts'
import { createDigest } from '#lib/packs/digest.ts'
import type { PackFile } from '#lib/packs/pack-files.ts'
import { byName } from '#lib/packs/pack-files.ts'
import { contentOf } from '#lib/packs/tar/write.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { notePacked, type Packed, pieceSize } from './packing.ts'

interface Told {
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
  readonly note: (message: string) => void
}

/** A list of chunks that are all on the provider. */
interface Chunked extends Packed {
  /** Bytes that the chunks take there. */
  readonly chunkBytes: number
}

const chunksText = (all: number, sent: { readonly chunks: number; readonly bytes: number }): string => {
  const count = all === 1 ? '1 chunk' : `${all} chunks`
  if (sent.chunks === 0) return `${count}, none of them new`
  return `${count}, of which ${sent.chunks} (${byteSize(sent.bytes)}) ${sent.chunks === 1 ? 'was' : 'were'} new`
}

/**
 * Writes files as chunks to a provider, those that are not there yet, and the list of them into a folder of this host. The
 * hold has to last until the list is on the provider too. Throws `invalid` for a machine of more chunks than a list names.
 * @param onProgress is told how many bytes of the files are on the provider
 * @param note is told how many chunks that were, and what of them was sent
 */
export const chunkTo = async (
  folder: string,
  files: readonly PackFile[],
  { provider, hold }: { readonly provider: Provider; readonly hold: Hold },
  { signal, onProgress, note }: Told,
): Promise<Chunked> => {
  const stored = new Map<string, number>()
  const chunked: ChunkedFile[] = []
  let done = 0
  const sent = { chunks: 0, bytes: 0 }
  for (const file of files.toSorted(byName)) {
    const { name, mode } = file
    const digest = createHash('sha256')
    const content = async function* (): AsyncGenerator<Uint8Array> {
      for await (const bytes of contentOf(file)) {
        digest.update(bytes)
        yield bytes
      }
    }
    const before = done
    const written = await writeChunked(provider, hold, content(), {
      signal,
      onProgress: bytes => onProgress(before + bytes),
    })
    done += written.list.size
    sent.chunks += written.sentChunks
    sent.bytes += written.sentBytes
    for (const [sha256, bytes] of written.stored) stored.set(sha256, bytes)
    chunked.push({ ...written.list, name, mode: mode & 0o755, sha256: digest.digest('hex') })
  }
  note(chunksText(stored.size, sent))
  const list = Buffer.from(encodeChunkedFiles(chunked))
  if (list.length > largestList)
    throw new ServiceError('invalid', 'The machine has too many chunks for a list of them. Push it as a pack.')
  const digest = createDigest(pieceSize)
  digest.update(list)
  const packed = { file: join(folder, 'pack'), digest: digest.end() }
  await writeFileAtomic(packed.file, list)
  await notePacked(folder, 'chunks', packed)
  return { ...packed, chunkBytes: stored.values().reduce((sum, bytes) => sum + bytes, 0) }
}
