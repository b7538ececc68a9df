import { isFault } from '#lib/errors.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'
import type { Chunked } from '../chunks/chunk-index.ts'
import { sourceFromBytes } from '#lib/objects/port/bytes.ts'
import { type Hold, holdFolder, takeHold } from './repository-lock.ts'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import type { OwnHolds } from './own-locks.ts'
import { isChunkPath } from './stored-chunk.ts'

export interface Collected {
  /** Chunks that stay, those that are too young to go among them. */
  readonly kept: number
  /** Of those: in no list, but too young to go, or of no known age. */
  readonly young: number
  /** Chunks that went, or would go, and the bytes they take on the provider. */
  readonly removed: number
  readonly bytes: number
}

interface Options {
  /** Only counts. */
  readonly dryRun?: boolean
  /** A chunk that was written later than this before `now` stays: a push that was cut off may come again and use it. */
  readonly graceMilliseconds: number
  /** Milliseconds since 1970. */
  readonly now?: number
  readonly signal?: AbortSignal
  readonly own?: OwnHolds
}

/** Removals at once. */
const lanes = 4

/**
 * The half of a SHA-256 in little memory, for there may be millions. Should two have the same half, a chunk stays that could
 * go.
 */
const keyOf = (sha256: string): string => Buffer.from(sha256.slice(0, 32), 'hex').toString('latin1')

/** Chunks that go in one request, where a storage has such. */
const atOnce = 500

const inBatches = async function* <T>(items: AsyncIterable<T>, most: number): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < most) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const removeAll = async (provider: Provider, hold: Hold, paths: readonly string[]): Promise<void> => {
  try {
    if (provider.removeMany && paths.length > 1) return await provider.removeMany(paths)
  } catch (error) {
    // Not every server that speaks the protocol of S3 has it.
    if (!isFault(error, 'upstream')) throw error
  }
  for (const path of paths) {
    await hold.renew()
    await provider.remove(path)
  }
}

/** Throws what a storage refuses removals with: before a hold is taken there that could not be ended. */
const checkRemoves = async (provider: Provider, signal: AbortSignal | undefined): Promise<void> => {
  const path = `${holdFolder}/check`
  await provider.write(path, sourceFromBytes(new Uint8Array()), { ...(signal && { signal }) })
  await provider.remove(path, signal)
}

/**
 * Removes the chunks that are in no list. `liveLists` gives the lists of everything that is kept; it is asked when no one
 * writes any more, so it must read what there is then, and fail when it cannot read all: nothing is removed in that case.
 * Chunks of which the provider does not say how old they are stay. Throws `conflict` while somebody writes chunks.
 */
export const collectGarbage = async (
  provider: Provider,
  liveLists: () => AsyncIterable<Chunked>,
  { dryRun = false, graceMilliseconds, now = Date.now(), signal, own }: Options,
): Promise<Collected> => {
  if (!dryRun) await checkRemoves(provider, signal)
  await using hold: Hold | undefined = dryRun ? undefined : await takeHold(provider, 'sweep', signal, own)
  const live = new Set<string>()
  for await (const { chunks } of liveLists()) for (const one of chunks) if ('sha256' in one) live.add(keyOf(one.sha256))

  const collected = { kept: 0, young: 0, removed: 0, bytes: 0 }
  const isUsed = ({ path }: ObjectStat): boolean => live.has(keyOf(path.slice(-64)))
  // Also of what says nothing of its age.
  const isYoung = ({ modifiedAt = '' }: ObjectStat): boolean => !(Date.parse(modifiedAt) < now - graceMilliseconds)

  const garbage = async function* (): AsyncGenerator<ObjectStat> {
    for await (const found of provider.list('chunks', signal)) {
      if (!isChunkPath(found.path)) continue
      const used = isUsed(found)
      if (used || isYoung(found)) {
        collected.kept += 1
        if (!used) collected.young += 1
        continue
      }
      signal?.throwIfAborted()
      await hold?.renew()
      yield found
    }
  }

  await forEachConcurrent(inBatches(garbage(), provider.removeMany ? atOnce : 1), lanes, async batch => {
    // Not to be aborted: a removal that nobody waits for could happen when the hold has ended.
    if (hold)
      await removeAll(
        provider,
        hold,
        batch.map(({ path }) => path),
      )
    collected.removed += batch.length
    for (const { size } of batch) collected.bytes += size
  })
  return collected
}
