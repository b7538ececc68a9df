import type { Principal } from '#lib/auth/principal.ts'
import { messageOf } from '#lib/errors.ts'
import type { Work } from '#lib/work.ts'
import { type UnpackedFile, unpackInto } from '../pack/read.ts'
import { type ChunkedFile, chunksOf } from '../chunks/chunk-list.ts'
import { unpackChunked } from '../chunks/unpack-chunked.ts'
import { checkedStream } from './checked-stream.ts'
import { listIn } from './chunked-source.ts'
import type { TransferContext } from './context.ts'
import type { PackSource } from './pack-source.ts'

/** A machine may have this many files, and grow to so many times its pack: what is more is an attack. */
const limits = { entries: 100_000, ratio: 1_100 }
/** Bytes of the files of a machine, with their holes: what file systems take. */
const largest = 64 * 2 ** 40

export interface Following {
  /** For whom it is. */
  readonly caller: Principal
  readonly work: Work
  readonly signal: AbortSignal
}

/** Fetches the chunks of a pack into the files of a folder. */
const unpackChunks = async (
  { downloads, folders }: TransferContext,
  source: PackSource,
  files: readonly ChunkedFile[],
  folder: string,
  { work, signal }: Following,
): Promise<readonly UnpackedFile[]> => {
  const all = files.flatMap(({ chunks }) => chunks)
  const data = all.reduce((sum, one) => sum + ('zeros' in one ? 0 : one.size), 0)
  const once = [...chunksOf(files).values()].reduce((sum, { size }) => sum + size, 0)
  // Chunks are kept until all are there, and take no more than what is in them.
  await folders.checkSpace(data + (source.near ? 0 : once))
  let fetched = source.size
  work.begin('downloader')
  await using lease = await downloads.leaseChunks(source, {
    signal,
    onProgress: bytes => {
      fetched = source.size + bytes
      work.advance('downloader', fetched, Math.max(fetched, source.manifest.pack_size))
    },
  })
  work.begin('decompressor')
  const unpacked = await unpackChunked(files, lease.fetch, folder, {
    limits: { ratio: limits.ratio, bytes: largest },
    fetched: () => fetched,
    signal,
    onProgress: bytes => work.advance('decompressor', bytes, Math.max(bytes, source.manifest.size)),
  })
  work.end('downloader')
  work.end('decompressor')
  return unpacked
}

/** Fetches a pack and unpacks it on its way into a folder. */
const unpackFetched = async (
  { downloads, folders }: TransferContext,
  source: PackSource,
  folder: string,
  { work, signal }: Following,
): Promise<readonly UnpackedFile[]> => {
  // What it unpacks to is not known before, for disks have holes; it is hardly less than the pack.
  await folders.checkSpace(source.near ? source.size : 2 * source.size)
  work.begin('downloader')
  await using lease = await downloads.lease(source, {
    signal,
    onProgress: bytes => work.advance('downloader', bytes, source.size),
  })
  work.begin('decompressor')
  const checked = checkedStream(lease.stream(), source)
  const files = await unpackInto(checked.stream, folder, {
    limits: { ...limits, bytes: largest },
    signal,
    onProgress: bytes => work.advance('decompressor', bytes, Math.max(bytes, source.manifest.size)),
  })
  checked.complete()
  work.end('downloader')
  work.end('decompressor')
  return files
}

/** The steps of filling a folder. */
export const fillSteps = ['pull_check_cache_stage', 'downloader', 'decompressor', 'pull_cache_stage'] as const

/** Fills a folder with the machine of a pack: from the cache, or from where the pack is. Gives where it is kept. */
export const fillWith = async (
  context: TransferContext,
  source: PackSource,
  folder: string,
  following: Following,
): Promise<string | undefined> => {
  const { cache } = context
  const { caller, work, signal } = following
  const told = (step: string) => (bytes: number) => work.advance(step, bytes, Math.max(bytes, source.manifest.size))
  const { sha256 } = source
  work.begin('pull_check_cache_stage')
  const cached =
    sha256 === undefined
      ? undefined
      : await cache.restore(caller, { ...source, sha256 }, folder, {
          signal,
          onProgress: told('pull_check_cache_stage'),
        })
  work.end('pull_check_cache_stage')
  if (cached !== undefined) {
    for (const step of fillSteps.slice(1)) work.skip(step, 'not needed, the cache has the machine')
    return cached
  }
  const list = await listIn(source, signal)
  const files = list
    ? await unpackChunks(context, source, list, folder, following)
    : await unpackFetched(context, source, folder, following)
  work.begin('pull_cache_stage')
  const kept =
    sha256 === undefined
      ? undefined
      : await cache
          .keep({ ...source, sha256, owner: caller.id }, files, folder, {
            signal,
            onProgress: told('pull_cache_stage'),
          })
          .catch((error: unknown) => {
            signal.throwIfAborted()
            // The machine is there, and that is what was asked for.
            context.warn(`${source.manifest.name} could not be cached: ${messageOf(error)}`)
            return undefined
          })
  work.end('pull_cache_stage')
  return kept
}
