import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { writeAll, writeFileAtomic } from '#lib/platform/files.ts'
import { createPeriodicSync } from '#lib/platform/periodic-fdatasync.ts'
import type { MinimumSpecRequirement } from '#lib/catalog/manifest-schema.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { RepositoryLock } from '#lib/packs/chunk-store/repository-lock.ts'
import { createDigest, type PackDigest } from '#lib/packs/digest.ts'
import { createDigestThreads } from '#lib/packs/digest-threads.ts'
import type { PackFile } from '#lib/packs/pack-files.ts'
import { type Compression, packTar, retainedParts } from '#lib/packs/tar/pack-tar.ts'
import type { Source } from '#lib/objects/port/provider.ts'

/** Bytes of a range of a pack: the unit in which a pull fetches, verifies and, after an interruption, fetches again. */
export const rangeSize = 8 * 1024 * 1024

/** The journal of a finished pack. Its member names stay, because an earlier version of the service may have written it. */
const PackJournal = z.object({
  of: z.string(),
  digest: z.object({
    size: z.number(),
    sha256: z.string(),
    md5: z.string(),
    pieceSize: z.number(),
    pieces: z.array(z.string()),
  }),
})

/** A finished pack or chunk index on this host. */
export interface LocalPack {
  readonly file: string
  readonly digest: PackDigest
}

interface EarlierPack extends LocalPack {
  /** What the pack contains: equal texts mean equal packs. */
  readonly input: string
}

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

/** Returns the pack that an earlier try of the push has finished in the folder, if there is one. */
export const readEarlierPack = async (folder: string): Promise<EarlierPack | undefined> => {
  try {
    const journal = PackJournal.parse(JSON.parse(await readFile(join(folder, 'pack.json'), 'utf8')))
    const { pieceSize, pieces, ...digest } = journal.digest
    const file = join(folder, 'pack')
    if ((await stat(file)).size !== digest.size) return undefined
    return { input: journal.of, file, digest: { ...digest, rangeSize: pieceSize, rangeDigests: pieces } }
  } catch {
    return undefined
  }
}

/** Records the finished pack in the folder and its input, for a later try of the push. */
export const writePackJournal = (folder: string, input: string, { digest }: LocalPack): Promise<void> => {
  const { rangeSize: pieceSize, rangeDigests: pieces, ...others } = digest
  const journal = { of: input, digest: { ...others, pieceSize, pieces: [...pieces] } } satisfies z.infer<
    typeof PackJournal
  >
  return writeFileAtomic(join(folder, 'pack.json'), JSON.stringify(journal))
}

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

/** Creates a source of objects from a file of this host that never changes. */
export const createFileSource = (file: string, size: number): Source => ({
  size,
  file,
  read: ({ start, end }) =>
    Readable.toWeb(
      // createReadStream includes `end`, so it cannot read an empty range.
      end > start ? createReadStream(file, { start, end: end - 1, highWaterMark: 1024 * 1024 }) : Readable.from([]),
    ) as ReadableStream<Uint8Array>,
})
