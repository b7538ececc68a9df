import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import type { UnpackedFile, UnpackLimits } from '#lib/packs/unpacker.ts'
import type { IndexedFile } from '#lib/packs/chunks/chunk-index.ts'
import { unpackChunkedFiles } from '#lib/packs/chunk-store/unpack-chunked.ts'
import { createPackVerifier } from './download/pack-verifier.ts'
import { readSourceIndex } from './download/source-index.ts'
import type { TransferContext } from './context.ts'
import type { PackSource } from './download/pack-source.ts'
import { populateSteps, type PullStep } from './steps.ts'

/** More files than this, or more growth, is an attack. 64 TiB, with holes, are what file systems take. */
const limits: UnpackLimits = { entries: 100_000, ratio: 1_100, bytes: 64 * 2 ** 40 }

export interface PopulateOptions {
  /** The user who pulls. */
  readonly caller: Principal
  readonly progress: ProgressReporter<PullStep>
  readonly signal: AbortSignal
}

/** Chunks that are counted before other work of the event loop may run. */
const countBatchSize = 10_000

/** Counts the bytes of all chunks: of each use, and of each chunk once. */
const countBytes = async (files: readonly IndexedFile[]): Promise<{ readonly all: number; readonly once: number }> => {
  const seen = new Set<string>()
  let [all, once, count] = [0, 0, 0]
  for (const { chunks } of files)
    for (const entry of chunks) {
      if ('zeros' in entry) continue
      all += entry.size
      if (!seen.has(entry.sha256)) once += entry.size
      seen.add(entry.sha256)
      count += 1
      if (count % countBatchSize === 0) await yieldToEventLoop()
    }
  return { all, once }
}

/** Fetches the chunks of a machine and writes its files into the folder. */
const fetchChunks = async (
  { downloads, folders }: TransferContext,
  source: PackSource,
  files: readonly IndexedFile[],
  folder: string,
  { progress, signal }: PopulateOptions,
): Promise<readonly UnpackedFile[]> => {
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (source.manifest.size > 0 && size > source.manifest.size)
    throw new ServiceError(
      'upstream',
      `The chunk index of ${source.manifest.name} has files of ${size} bytes, and the catalog says that they have ${source.manifest.size}.`,
    )
  const { all, once } = await countBytes(files)
  // The work folder keeps the chunks until the machine is complete. They take at most as many bytes as they contain.
  await folders.checkSpace(source.isLocal ? 0 : once, { folder, bytes: all })
  let fetched = source.size
  progress.begin('downloader')
  await using lease = await downloads.leaseChunks(source, {
    signal,
    onProgress: bytes => {
      fetched = source.size + bytes
      progress.advance('downloader', fetched, Math.max(fetched, source.manifest.pack_size))
    },
  })
  progress.begin('decompressor')
  const unpacked = await unpackChunkedFiles(files, lease.fetchChunk, folder, {
    limits,
    getFetchedSize: () => fetched,
    signal,
    onProgress: bytes => progress.advance('decompressor', bytes, Math.max(bytes, source.manifest.size)),
  })
  progress.end('downloader')
  progress.end('decompressor')
  return unpacked
}

/** Fetches a pack and unpacks it into the folder while it arrives. */
const fetchPack = async (
  { downloads, folders }: TransferContext,
  source: PackSource,
  folder: string,
  { progress, signal }: PopulateOptions,
): Promise<readonly UnpackedFile[]> => {
  // The unpacked size is unknown, because disks have holes. It is hardly less than the size of the pack.
  await folders.checkSpace(source.isLocal ? 0 : source.size, { folder, bytes: source.size })
  progress.begin('downloader')
  await using lease = await downloads.leasePack(source, {
    signal,
    onProgress: bytes => progress.advance('downloader', bytes, source.size),
  })
  progress.begin('decompressor')
  const verifier = createPackVerifier(lease.stream(), source)
  const files = await unpackTar(verifier.stream, folder, {
    limits,
    signal,
    onProgress: bytes => progress.advance('decompressor', bytes, Math.max(bytes, source.manifest.size)),
  })
  verifier.verifyComplete()
  progress.end('downloader')
  progress.end('decompressor')
  return files
}

/** Turns `invalid` into `upstream`: a pack that cannot be unpacked is damaged at its source, not a mistake of the caller. */
const throwUnpackError = (error: unknown): never => {
  if (!isFault(error, 'invalid')) throw error
  throw new ServiceError('upstream', error.message, { cause: error })
}

/**
 * Fills a folder with the files of a machine, from the cache or else from the source. Returns the folder of the machine in
 * the cache, or undefined when the cache does not have it.
 */
export const populateFolder = async (
  context: TransferContext,
  source: PackSource,
  folder: string,
  options: PopulateOptions,
): Promise<string | undefined> => {
  const { cache } = context
  const { caller, progress, signal } = options
  const createProgress = (step: PullStep) => (bytes: number) =>
    progress.advance(step, bytes, Math.max(bytes, source.manifest.size))
  const { sha256 } = source
  progress.begin('pull_check_cache_stage')
  const restoredPath =
    sha256 === undefined
      ? undefined
      : await cache.restore(caller, { ...source, sha256 }, folder, {
          signal,
          onProgress: createProgress('pull_check_cache_stage'),
        })
  progress.end('pull_check_cache_stage')
  if (restoredPath !== undefined) {
    for (const step of populateSteps.slice(1)) progress.skip(step, 'not needed, the cache has the machine')
    return restoredPath
  }
  const index = await readSourceIndex(source, context.catalog.indexParser, signal)
  const unpacking = index
    ? fetchChunks(context, source, index, folder, options)
    : fetchPack(context, source, folder, options)
  const files = await unpacking.catch(throwUnpackError)
  progress.begin('pull_cache_stage')
  const cachePath =
    sha256 === undefined
      ? undefined
      : await cache
          .keep({ ...source, sha256, owner: caller.id }, files, folder, {
            signal,
            onProgress: createProgress('pull_cache_stage'),
          })
          .catch((error: unknown) => {
            signal.throwIfAborted()
            // The machine is complete, so the pull succeeds.
            context.warn(`${source.manifest.name} could not be cached: ${messageOf(error)}`)
            return undefined
          })
  progress.end('pull_cache_stage')
  return cachePath
}
