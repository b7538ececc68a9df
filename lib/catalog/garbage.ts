import * as z from 'zod'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Work } from '#lib/work.ts'
import type { ChunkList } from './chunks/chunk-list.ts'
import { collectGarbage } from './chunks/collect-garbage.ts'
import { isListPath, readListObject } from './chunks/list-object.ts'
import { connectionPlace, parseConnection } from './connection.ts'
import type { Provider } from './providers/provider.ts'
import type { CatalogContext } from './changes.ts'
import { optional, Text } from './requests.ts'

/** Which chunks are to be looked at. */
export const CollectGarbage = z.object({
  connection: Text(8192).trim().min(1, 'must name a provider'),
  dry_run: optional(z.boolean())
    .transform(dry => dry ?? true)
    .meta({ description: 'true, as when it is left out: only counts' }),
  grace_hours: optional(
    z.number('must be a number').min(0, 'must not be negative').max(87_600, 'must be at most 87600'),
  )
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
  const place = connectionPlace(connection)
  return { dry_run: String(dryRun), ...(place !== undefined && { connection: place }) }
}

/** All lists of a provider, whichever host's manifests they belong to. One that cannot be read fails the whole. */
const listsOf = async function* (provider: Provider, signal: AbortSignal | undefined): AsyncGenerator<ChunkList> {
  for await (const { path } of provider.list('', signal)) {
    if (!isListPath(path)) continue
    try {
      yield* await readListObject(provider, path, { signal })
    } catch (error) {
      // Its manifest was deleted meanwhile.
      if (!isFault(error, 'not-found')) throw error
    }
  }
}

const step = 'collect_garbage_stage'

/**
 * Removes the chunks from the provider of a connection that no list there names. Throws `invalid` for a connection without
 * one, `conflict` while somebody pushes to it, and `upstream` when a list there cannot be read: then nothing is removed.
 */
export const collectFrom = async (
  { storages, ownHolds }: Pick<CatalogContext, 'storages' | 'ownHolds'>,
  { connection, dry_run: dryRun, grace_hours: hours }: CollectGarbage,
  { plan, begin, end, signal }: Work,
): Promise<CollectedGarbage> => {
  const { service, storage } = parseConnection(connection)
  if (service || !storage)
    throw new ServiceError('invalid', 'The connection must name a provider, and no other catalog.')
  plan([{ name: step, title: 'Look for chunks that nobody uses', weight: 100 }])
  begin(step)
  const provider = await storages.open(storage)
  const graceMilliseconds = hours * 3_600_000
  const collected = await collectGarbage(provider, () => listsOf(provider, signal), {
    dryRun,
    graceMilliseconds,
    own: ownHolds,
    ...(signal && { signal }),
  })
  end(step)
  return { ...collected }
}
