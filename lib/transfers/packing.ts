import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { writeAll, writeFileAtomic } from '#lib/platform/files.ts'
import { createSteadySync } from '#lib/platform/periodic-fdatasync.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { createDigest, type PackDigest } from '#lib/packs/digest.ts'
import { createDigestThreads } from '#lib/packs/digest-threads.ts'
import type { PackFile } from '#lib/packs/pack-files.ts'
import { type Compression, packBytes, partsAhead } from '#lib/packs/tar/write.ts'
import type { Source } from '#lib/objects/port/provider.ts'

/** Bytes of a piece: what is fetched, verified and, after a cut, fetched again as one. */
export const pieceSize = 8 * 1024 * 1024

const Note = z.object({
  of: z.string(),
  digest: z.object({
    size: z.number(),
    sha256: z.string(),
    md5: z.string(),
    pieceSize: z.number(),
    pieces: z.array(z.string()),
  }),
})

/** A finished pack on this host. */
export interface Packed {
  readonly file: string
  readonly digest: PackDigest
}

/** Files up to this size count by their content: they are written anew for each push. */
const small = 64 * 1024

const contentKey = async ({ open: openPacked, size }: PackFile): Promise<string> => {
  if (size > small) return ''
  await using file = await openPacked()
  // As far as it was seen: it may be endless by now, and is refused when it is packed.
  const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(small), 0, small, 0)
  return hash('sha256', buffer.subarray(0, bytesRead))
}

/** What a pack is made of: the same again gives the same bytes. */
const recipeOf = async (files: readonly PackFile[], compression: Compression): Promise<string> =>
  JSON.stringify([
    compression,
    await Promise.all(
      files.map(async file => [file.name, file.size, file.mode, file.modifiedAt, await contentKey(file)]),
    ),
  ])

/** The pack that an earlier try has finished in a folder, and what it is of. */
export const packedEarlier = async (folder: string): Promise<(Packed & { readonly of: string }) | undefined> => {
  try {
    const { of, digest } = Note.parse(JSON.parse(await readFile(join(folder, 'pack.json'), 'utf8')))
    const file = join(folder, 'pack')
    return (await stat(file)).size === digest.size ? { of, file, digest } : undefined
  } catch {
    return undefined
  }
}

/** Notes what the finished pack in a folder is of, for a later try. */
export const notePacked = (folder: string, of: string, { digest }: Packed): Promise<void> =>
  writeFileAtomic(join(folder, 'pack.json'), JSON.stringify({ of, digest }))

interface PackingOptions {
  readonly startWorker: StartWorker
  readonly signal: AbortSignal
  /** Is told how many bytes of the files are in the pack. */
  readonly onProgress: (bytes: number) => void
}

/** Bytes that are worth a thread. */
const large = 64 * 1024 * 1024

/**
 * Packs files into a folder; a pack of the same files that an earlier try has finished there is taken as it is.
 */
export const packTo = async (
  folder: string,
  files: readonly PackFile[],
  compression: Compression,
  { startWorker, signal, onProgress }: PackingOptions,
): Promise<Packed> => {
  const of = await recipeOf(files, compression)
  const known = await packedEarlier(folder)
  if (known?.of === of) return known
  const [part, file] = [join(folder, 'pack.part'), join(folder, 'pack')]
  const size = files.reduce((sum, file) => sum + file.size, 0)
  await using threads = size > large ? createDigestThreads(startWorker, pieceSize) : undefined
  const digest = threads ?? createDigest(pieceSize)
  {
    await using target = await open(part, 'w', 0o600)
    const sync = createSteadySync(target)
    const underWay: Promise<void>[] = []
    let at = 0
    const take = async (part: Uint8Array): Promise<void> => {
      const place = at
      at += part.length
      await Promise.all([writeAll(target, part, place), digest.update(part)])
      await sync.wrote(part.length)
    }
    try {
      for await (const part of packBytes(files, compression, { signal, onProgress })) {
        const taken = take(part)
        // Waited for in its turn, and its failure is seen then.
        taken.catch(() => undefined)
        underWay.push(taken)
        if (underWay.length > partsAhead) await underWay.shift()
      }
      await Promise.all(underWay)
    } finally {
      await Promise.allSettled(underWay)
      await sync.idle()
    }
    // Whoever finds it after a power cut, or gives it another name, relies on what its digest says.
    await target.sync()
  }
  const packed = { file, digest: await digest.end() }
  await rename(part, file)
  await notePacked(folder, of, packed)
  return packed
}

/** A file of this host, which never changes, as a source. */
export const sourceOfFile = (file: string, size: number): Source => ({
  size,
  file,
  read: ({ start, end }) =>
    Readable.toWeb(
      // An end before the start means nothing to it.
      end > start ? createReadStream(file, { start, end: end - 1, highWaterMark: 1024 * 1024 }) : Readable.from([]),
    ) as ReadableStream<Uint8Array>,
})
