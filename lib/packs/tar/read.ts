import { createHash } from 'node:crypto'
import { createByteReader } from './byte-reader.ts'
import { entriesOf } from './entries.ts'
import type { Entry } from './entries.ts'
import { openPack } from './inflate.ts'
import { createUnpacker, type UnpackedFile, unpacking, type UnpackLimits } from '../unpacker.ts'

interface UnpackOptions {
  readonly limits: UnpackLimits
  readonly signal?: AbortSignal
  /** Is told how many bytes of files have gone by. */
  readonly onProgress?: (bytesOfFiles: number) => void
}

/**
 * Unpacks a tar, plain or in gzip or zstd, into an existing empty folder that nobody else writes to. Runs of zeros from
 * 64 KiB on become holes; files are synced and keep their times and 755 of their modes. Leading slashes are taken off;
 * a tar that ends behind its last file is whole, except in zstd. Nothing is written outside `folder`, and the caller
 * removes it after a failure. Throws `invalid` with the reason for a pack that is damaged, hostile or beyond the limits,
 * `no-space`, and what `stream` fails with.
 */
export const unpackInto = async (
  stream: ReadableStream<Uint8Array>,
  folder: string,
  { limits, signal, onProgress }: UnpackOptions,
): Promise<readonly UnpackedFile[]> => {
  let packed = 0
  const unpacker = createUnpacker(folder, { limits, packed: () => packed, signal, onProgress })
  const files: UnpackedFile[] = []
  let rootNamed = false

  const unpackEntry = async (entry: Entry): Promise<void> => {
    signal?.throwIfAborted()
    const { name, kind } = entry
    if (kind === 'folder' && name === '' && !rootNamed) {
      rootNamed = true
      return
    }
    await unpacker.add(name, kind, entry.size)
    if (kind === 'folder') return
    const digest = createHash('sha256')
    const size = await unpacker.write(entry, entry.content(), bytes => digest.update(bytes))
    files.push({ name, size, sha256: digest.digest('hex') })
  }

  const onPacked = (bytes: number): void => {
    packed += bytes
  }
  const pack = await openPack(stream, { onPacked, signal })
  return unpacking(async () => {
    try {
      const mayLackEnd = pack.format !== 'zstd'
      for await (const entry of entriesOf(createByteReader(pack.bytes), { mayLackEnd })) await unpackEntry(entry)
      await unpacker.sync()
      return files
    } finally {
      await pack.close()
    }
  })
}
