import { createHash } from 'node:crypto'
import { createByteReader } from './byte-reader.ts'
import { readEntries } from './read-entries.ts'
import type { TarEntry } from './read-entries.ts'
import { openPackStream } from './open-pack-stream.ts'
import { createUnpacker, type UnpackedFile, type UnpackLimits, withUnpackErrors } from '../unpacker.ts'

interface UnpackTarOptions {
  readonly limits: UnpackLimits
  readonly signal?: AbortSignal
  /** Called with the number of bytes of files, with holes, so far. */
  readonly onProgress?: (bytesOfFiles: number) => void
}

/**
 * Unpacks a tar, plain or compressed by gzip or zstd, into an existing empty folder that nobody else writes to. Runs of
 * zeros from 64 KiB on become holes. Files are synced; they keep their times, and their modes as far as 755 allows. Leading
 * slashes are removed. A tar that ends after its last file is complete, except in zstd, whose cuts would not show. Nothing
 * is written outside `folder`, and the caller removes it after a failure. Returns the files. Throws `invalid` with the
 * reason for a pack that is damaged, hostile or beyond the limits, `no-space`, and what `stream` fails with.
 */
export const unpackTar = async (
  stream: ReadableStream<Uint8Array>,
  folder: string,
  { limits, signal, onProgress }: UnpackTarOptions,
): Promise<readonly UnpackedFile[]> => {
  let packedSize = 0
  const unpacker = createUnpacker(folder, { limits, getPackedSize: () => packedSize, signal, onProgress })
  const files: UnpackedFile[] = []
  let hasRoot = false

  const unpackEntry = async (entry: TarEntry): Promise<void> => {
    signal?.throwIfAborted()
    const { name, kind } = entry
    if (kind === 'folder' && name === '' && !hasRoot) {
      hasRoot = true
      return
    }
    await unpacker.add(name, kind, entry.size)
    if (kind === 'folder') return
    const digest = createHash('sha256')
    const size = await unpacker.write(entry, entry.content(), bytes => digest.update(bytes))
    files.push({ name, size, sha256: digest.digest('hex') })
  }

  const onPacked = (bytes: number): void => {
    packedSize += bytes
  }
  const pack = await openPackStream(stream, { onPacked, signal })
  return withUnpackErrors(async () => {
    try {
      const mayLackEnd = pack.format !== 'zstd'
      for await (const entry of readEntries(createByteReader(pack.bytes), { mayLackEnd })) await unpackEntry(entry)
      await unpacker.sync()
      return files
    } finally {
      await pack.close()
    }
  })
}
