import * as z from 'zod'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { ChunkedContent } from '#lib/packs/chunks/chunk-index.ts'
import { collectGarbage } from '#lib/packs/chunk-store/collect-garbage.ts'
import type { IndexParser } from '#lib/packs/chunks/index-parser.ts'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import { isChunkIndexObject, indexSuffix, readChunkIndex } from '#lib/packs/chunk-store/index-object.ts'
import { isChunkPath } from '#lib/packs/chunk-store/stored-chunk.ts'
import { redactConnection, parseConnection } from '#lib/objects/port/connection.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'
import type { CatalogContext } from './changes.ts'
import { optional, Text } from './schemas.ts'

/** Which chunks are to be looked at. */
export const CollectGarbage = z.object({
  connection: Text(8192).trim().min(1, 'must name a provider'),
  dry_run: optional(z.boolean())
    .transform(dry => dry ?? true)
    .meta({ description: 'true, as when it is left out: only counts' }),
  grace_hours: optional(z.number().min(0).max(87_600))
    .transform(hours => hours ?? 24)
    .meta({ description: 'Chunks that are younger stay: a push that was cut off may come again' }),
})
export type CollectGarbage = z.infer<typeof CollectGarbage>

export const CollectedGarbage = z
  .object({
    kept: z.int().meta({ description: 'Chunks that stay' }),
    young: z.int().meta({ description: 'Of those, the ones that nobody uses and that are too young to go' }),
    removed: z.int().meta({ description: 'Chunks that went, or in a dry run would go' }),
    bytes: z.int().meta({ description: 'What these take on the provider' }),
  })
  .meta({ id: 'CollectedGarbage' })
export type CollectedGarbage = z.infer<typeof CollectedGarbage>

/** What tells a collection from others: never a secret. */
export const aboutGarbage = ({ connection, dry_run: dryRun }: CollectGarbage): Readonly<Record<string, string>> => {
  const place = redactConnection(connection)
  return { dry_run: String(dryRun), ...(place !== undefined && { connection: place }) }
}

/** Objects that are looked into at once. */
const lanes = 8

/**
 * The paths of all chunk indexes of a provider, under whatever names. What is named as one counts as one: where it is damaged
 * nobody knows which chunks it names.
 */
const indexesOf = async (provider: Provider, signal: AbortSignal | undefined): Promise<readonly string[]> => {
  const found: string[] = []
  const candidates = async function* (): AsyncGenerator<ObjectStat> {
    for await (const object of provider.list('', signal)) if (!isChunkPath(object.path)) yield object
  }
  await forEachConcurrent(candidates(), lanes, async object => {
    const isOne =
      object.path.endsWith(indexSuffix) || (await isChunkIndexObject(provider, object, signal).catch(notWhenGone))
    if (isOne) found.push(object.path)
  })
  return found
}

/** An object that was deleted meanwhile is no index; whatever else keeps one from being read fails the whole. */
const notWhenGone = (error: unknown): false => {
  if (isFault(error, 'not-found')) return false
  throw error
}

/** All chunk indexes of a provider, whichever host's manifests they belong to. One that cannot be read fails the whole. */
const listsOf = async function* (
  provider: Provider,
  parser: IndexParser,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChunkedContent> {
  for (const path of await indexesOf(provider, signal)) {
    const files = await readChunkIndex(provider, path, parser, { signal }).catch(notWhenGone)
    if (files === undefined)
      throw new ServiceError(
        'upstream',
        `${path} on the provider is named as a chunk index, and is none. Remove it or give it another name; until then no chunk is removed.`,
      )
    if (files) yield* files
  }
}

const step = 'collect_garbage_stage'

/**
 * Removes the chunks from the provider of a connection that no list there names. Throws `invalid` for a connection without
 * one, `conflict` while somebody pushes to it, and `upstream` when a list there cannot be read: then nothing is removed.
 */
export const collectFrom = async (
  { storages, ownHolds, indexParser }: Pick<CatalogContext, 'storages' | 'ownHolds' | 'indexParser'>,
  { connection, dry_run: dryRun, grace_hours: hours }: CollectGarbage,
  { plan, begin, end, signal }: ProgressReporter,
): Promise<CollectedGarbage> => {
  const { service, storage } = parseConnection(connection)
  if (service || !storage)
    throw new ServiceError('invalid', 'The connection must name a provider, and no other catalog.')
  plan([{ name: step, title: 'Look for chunks that nobody uses', weight: 100 }])
  begin(step)
  const provider = await storages.open(storage)
  const graceMilliseconds = hours * 3_600_000
  const collected = await collectGarbage(provider, () => listsOf(provider, indexParser, signal), {
    dryRun,
    graceMilliseconds,
    ownLocks: ownHolds,
    ...(signal && { signal }),
  })
  end(step)
  return { ...collected }
}
