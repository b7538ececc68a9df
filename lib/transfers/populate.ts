import { setImmediate as turn } from 'node:timers/promises'
import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { unpackInto } from '#lib/packs/tar/read.ts'
import type { UnpackedFile } from '#lib/packs/unpacker.ts'
import type { IndexedFile } from '#lib/packs/chunks/chunk-index.ts'
import { unpackChunked } from '#lib/packs/chunk-store/unpack-chunked.ts'
import { checkedStream } from './download/checked-stream.ts'
import { listIn } from './download/chunked-source.ts'
import type { TransferContext } from './context.ts'
import type { PackSource } from './download/pack-source.ts'

/** A machine may have this many files, and grow to so many times its pack: what is more is an attack. */
const limits = { entries: 100_000, ratio: 1_100 }
/** Bytes of the files of a machine, with their holes: what file systems take. */
const largest = 64 * 2 ** 40

export interface Following {
  /** For whom it is. */
  readonly caller: Principal
  readonly work: ProgressReporter
  readonly signal: AbortSignal
}

/** Chunks that are counted before others have their turn. */
const countedAtOnce = 10_000

/** Bytes of all chunks of files, and with each counted once. */
const countBytes = async (files: readonly IndexedFile[]): Promise<{ readonly data: number; readonly once: number }> => {
  const seen = new Set<string>()
  let [data, once, count] = [0, 0, 0]
  for (const { chunks } of files)
    for (const one of chunks) {
      if ('zeros' in one) continue
      data += one.size
      if (!seen.has(one.sha256)) once += one.size
      seen.add(one.sha256)
      count += 1
      if (count % countedAtOnce === 0) await turn()
    }
  return { data, once }
}

/** Fetches the chunks of a pack into the files of a folder. */
const unpackChunks = async (
  { downloads, folders }: TransferContext,
  source: PackSource,
  files: readonly IndexedFile[],
  folder: string,
  { work, signal }: Following,
): Promise<readonly UnpackedFile[]> => {
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (source.manifest.size > 0 && size > source.manifest.size)
    throw new ServiceError(
      'upstream',
      `The chunk index of ${source.manifest.name} has files of ${size} bytes, and the catalog says that they have ${source.manifest.size}.`,
    )
  const { data, once } = await countBytes(files)
  // Chunks are kept until all are there, and take no more than what is in them.
  await folders.checkSpace(source.near ? 0 : once, { folder, bytes: data })
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
    limits: { ...limits, bytes: largest },
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
  await folders.checkSpace(source.near ? 0 : source.size, { folder, bytes: source.size })
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

/** A pack that cannot be unpacked is damaged where it is kept: that is no mistake of who pulls it. */
const damaged = (error: unknown): never => {
  if (!isFault(error, 'invalid')) throw error
  throw new ServiceError('upstream', error.message, { cause: error })
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
  const list = await listIn(source, context.catalog.indexParser, signal)
  const unpacked = list
    ? unpackChunks(context, source, list, folder, following)
    : unpackFetched(context, source, folder, following)
  const files = await unpacked.catch(damaged)
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
