import { hash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAll } from '#lib/platform/files.ts'
import { createPeriodicSync } from '#lib/platform/periodic-fdatasync.ts'
import type { MinimumSpecRequirement } from '#lib/catalog/manifest-schema.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { RepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { createDigest } from '#lib/packs/digest.ts'
import { createDigestThreads } from '#lib/packs/digest-threads.ts'
import type { PackFile } from '#lib/packs/pack-files.ts'
import { type Compression, packTar, retainedParts } from '#lib/packs/tar/pack-tar.ts'
import { type LocalPack, readEarlierPack, writePackJournal } from './pack-journal.ts'

/** Bytes of a range of a pack: the unit in which a pull fetches, verifies and, after an interruption, fetches again. */
export const rangeSize = 8 * 1024 * 1024

/** A machine whose pack is on this host, or whose chunks are on the provider and whose chunk index is on this host. */
export interface PackedMachine {
  readonly pack: LocalPack
  /** Bytes of the chunks on the provider. */
  readonly chunkBytes: number
  /** The lock on the chunks, which keeps them until the catalog refers to the index. Undefined for a pack. */
  readonly lock: RepositoryLock | undefined
  readonly type: string
  readonly files: readonly PackFile[]
  /** What the definition of the machine asks for, if it has one. */
  readonly requirements?: MinimumSpecRequirement | undefined
  /** Bytes of the files. */
  readonly size: number
  readonly isCompressed: boolean
}

/** Maximum size of files that are compared by their content, because each export writes them anew. */
const maxHashedSize = 64 * 1024

const computeContentKey = async ({ open: openPacked, size }: PackFile): Promise<string> => {
  if (size > maxHashedSize) return ''
  await using file = await openPacked()
  // No more than this is read, because the file may have grown. The packing then refuses it.
  const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(maxHashedSize), 0, maxHashedSize, 0)
  return hash('sha256', buffer.subarray(0, bytesRead))
}

/** Describes what a pack is made of. Equal descriptions give equal packs. */
const describeInput = async (files: readonly PackFile[], compression: Compression): Promise<string> =>
  JSON.stringify([
    compression,
    await Promise.all(
      files.map(async file => [file.name, file.size, file.mode, file.modifiedAt, await computeContentKey(file)]),
    ),
  ])

interface PackingOptions {
  readonly startWorker: StartWorker
  readonly signal: AbortSignal
  /** Called with the number of bytes of the files that are in the pack. */
  readonly onProgress: (bytes: number) => void
}

/** Minimum number of bytes for which threads digest the pack. */
const minThreadedSize = 64 * 1024 * 1024

/**
 * Packs files into a folder. It returns the pack that an earlier try has finished there, if that has the same input. Throws
 * what `packTar` throws.
 */
export const packFiles = async (
  folder: string,
  files: readonly PackFile[],
  compression: Compression,
  { startWorker, signal, onProgress }: PackingOptions,
): Promise<LocalPack> => {
  const input = await describeInput(files, compression)
  const earlier = await readEarlierPack(folder)
  if (earlier?.input === input) return earlier
  const [unfinished, file] = [join(folder, 'pack.part'), join(folder, 'pack')]
  const size = files.reduce((sum, { size: fileSize }) => sum + fileSize, 0)
  await using threads = size > minThreadedSize ? createDigestThreads(startWorker, rangeSize) : undefined
  const digest = threads ?? createDigest(rangeSize)
  {
    await using target = await open(unfinished, 'w', 0o600)
    const sync = createPeriodicSync(target)
    const writes: Promise<void>[] = []
    let position = 0
    const writePart = async (part: Uint8Array): Promise<void> => {
      const at = position
      position += part.length
      await Promise.all([writeAll(target, part, at), digest.update(part)])
      await sync.onWritten(part.length)
    }
    try {
      for await (const part of packTar(files, compression, { signal, onProgress })) {
        const write = writePart(part)
        // The write is awaited in order below, and its failure is thrown then.
        write.catch(() => undefined)
        writes.push(write)
        if (writes.length > retainedParts) await writes.shift()
      }
      await Promise.all(writes)
    } finally {
      await Promise.allSettled(writes)
      await sync.waitForIdle()
    }
    // A later try, also after a power failure, relies on the digest in the journal.
    await target.sync()
  }
  const pack = { file, digest: await digest.end() }
  await rename(unfinished, file)
  await writePackJournal(folder, input, pack)
  return pack
}
