import { isFault } from '#lib/errors.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'
import type { ChunkedContent } from '../chunks/chunk-index.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import { acquireRepositoryLock, lockFolder, type RepositoryLock } from './repository-lock.ts'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import type { OwnLocks } from './own-locks.ts'
import { isChunkPath } from './stored-chunk.ts'

export interface GarbageCounts {
  /** Chunks that stay, with the young ones. */
  readonly kept: number
  /** Chunks that no index names and that stay because they are too young, or because nobody knows their age. */
  readonly young: number
  /** Chunks that were removed, or would be, and their bytes on the provider. */
  readonly removed: number
  readonly bytes: number
}

interface CollectOptions {
  /** Only count the chunks. */
  readonly dryRun?: boolean
  /** A chunk stays if it is younger than this at `now`, because a push that was cut off can come again and use it. */
  readonly graceMilliseconds: number
  /** Milliseconds since 1970. */
  readonly now?: number
  readonly signal?: AbortSignal
  readonly ownLocks?: OwnLocks
}

/** Removals that run at the same time. */
const concurrency = 4

/**
 * Returns half of a SHA-256 as a short string, because there may be millions of them. If two digests have the same half, a
 * chunk stays that could be removed.
 */
const toKey = (sha256: string): string => Buffer.from(sha256.slice(0, 32), 'hex').toString('latin1')

/** Maximum number of chunks in one request, for providers that remove many objects at once. */
const maxBatchSize = 500

const splitIntoBatches = async function* <T>(items: AsyncIterable<T>, maxSize: number): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < maxSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const removeBatch = async (provider: Provider, lock: RepositoryLock, paths: readonly string[]): Promise<void> => {
  try {
    if (provider.removeMany && paths.length > 1) return await provider.removeMany(paths)
  } catch (error) {
    // Not every server that speaks the S3 protocol has this request.
    if (!isFault(error, 'upstream')) throw error
  }
  for (const path of paths) {
    await lock.renew()
    await provider.remove(path)
  }
}

/** Throws what a storage refuses removals with, before a lock is acquired there that could not be removed. */
const checkRemoval = async (provider: Provider, signal: AbortSignal | undefined): Promise<void> => {
  const path = `${lockFolder}/check`
  await provider.write(path, toSource(new Uint8Array()), { ...(signal && { signal }) })
  await provider.remove(path, signal)
}

/**
 * Removes the chunks that no index names, and returns how many. It calls `listLive` when nobody writes chunks any more.
 * `listLive` reads all content that must stay as it is at that moment; it throws when it cannot read all of it, and then no
 * chunk is removed. A chunk stays if the provider does not know its age. Throws `conflict` while somebody writes chunks.
 */
export const collectGarbage = async (
  provider: Provider,
  listLive: () => AsyncIterable<ChunkedContent>,
  { dryRun = false, graceMilliseconds, now = Date.now(), signal, ownLocks }: CollectOptions,
): Promise<GarbageCounts> => {
  if (!dryRun) await checkRemoval(provider, signal)
  await using lock: RepositoryLock | undefined = dryRun
    ? undefined
    : await acquireRepositoryLock(provider, 'exclusive', signal, ownLocks)
  const live = new Set<string>()
  for await (const { chunks } of listLive())
    for (const entry of chunks) if ('sha256' in entry) live.add(toKey(entry.sha256))

  const counts = { kept: 0, young: 0, removed: 0, bytes: 0 }
  const isLive = ({ path }: ObjectStat): boolean => live.has(toKey(path.slice(-64)))
  // An object of unknown age gives NaN and counts as young.
  const isYoung = ({ modifiedAt = '' }: ObjectStat): boolean => !(Date.parse(modifiedAt) < now - graceMilliseconds)

  const findGarbage = async function* (): AsyncGenerator<ObjectStat> {
    for await (const object of provider.list('chunks', signal)) {
      if (!isChunkPath(object.path)) continue
      const isUsed = isLive(object)
      if (isUsed || isYoung(object)) {
        counts.kept += 1
        if (!isUsed) counts.young += 1
        continue
      }
      signal?.throwIfAborted()
      await lock?.renew()
      yield object
    }
  }

  const batchSize = provider.removeMany ? maxBatchSize : 1
  await forEachConcurrent(splitIntoBatches(findGarbage(), batchSize), concurrency, async batch => {
    // The signal must not abort a removal: the provider could then carry it out after the lock has ended.
    if (lock)
      await removeBatch(
        provider,
        lock,
        batch.map(({ path }) => path),
      )
    counts.removed += batch.length
    for (const { size } of batch) counts.bytes += size
  })
  return counts
}
