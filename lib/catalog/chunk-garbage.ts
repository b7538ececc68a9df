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

/** Request of a garbage collection. */
export const CollectGarbage = z.object({
  connection: Text(8192).trim().min(1, 'must name a provider'),
  dry_run: optional(z.boolean())
    .transform(dryRun => dryRun ?? true)
    .meta({ description: 'true only counts the chunks; the default is true' }),
  grace_hours: optional(z.number().min(0).max(87_600))
    .transform(hours => hours ?? 24)
    .meta({ description: 'Younger chunks stay, because an interrupted push may continue' }),
})
export type CollectGarbage = z.infer<typeof CollectGarbage>

export const CollectedGarbage = z
  .object({
    kept: z.int().meta({ description: 'Chunks that stay' }),
    young: z.int().meta({ description: 'Of those, unused chunks that are too young to be removed' }),
    removed: z.int().meta({ description: 'Chunks that were removed, or that would be without dry_run' }),
    bytes: z.int().meta({ description: 'Bytes of these chunks on the provider' }),
  })
  .meta({ id: 'CollectedGarbage' })
export type CollectedGarbage = z.infer<typeof CollectedGarbage>

/** The members of a request that its job shows, without a secret. */
export const summarizeRequest = ({ connection, dry_run: dryRun }: CollectGarbage): Readonly<Record<string, string>> => {
  const redacted = redactConnection(connection)
  return { dry_run: String(dryRun), ...(redacted !== undefined && { connection: redacted }) }
}

/** Objects that are read at the same time. */
const concurrency = 8

/**
 * Finds the paths of all chunk indexes of a provider, whatever their names. An object with the name of an index counts as one
 * even if it is damaged, because then it is unknown which chunks it names.
 */
const findIndexPaths = async (provider: Provider, signal: AbortSignal | undefined): Promise<readonly string[]> => {
  const found: string[] = []
  const candidates = async function* (): AsyncGenerator<ObjectStat> {
    for await (const object of provider.list('', signal)) if (!isChunkPath(object.path)) yield object
  }
  await forEachConcurrent(candidates(), concurrency, async object => {
    const isIndex =
      object.path.endsWith(indexSuffix) || (await isChunkIndexObject(provider, object, signal).catch(ignoreNotFound))
    if (isIndex) found.push(object.path)
  })
  return found
}

/** Gives false for an object that was deleted meanwhile. Rethrows any other error, because the object could be an index. */
const ignoreNotFound = (error: unknown): false => {
  if (isFault(error, 'not-found')) return false
  throw error
}

/** Reads all chunk indexes of a provider, of the manifests of any host. Throws if one of them cannot be read. */
const readIndexes = async function* (
  provider: Provider,
  parser: IndexParser,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChunkedContent> {
  for (const path of await findIndexPaths(provider, signal)) {
    const files = await readChunkIndex(provider, path, parser, { signal }).catch(ignoreNotFound)
    if (files === undefined)
      throw new ServiceError(
        'upstream',
        `${path} on the provider has the name of a chunk index, but is not one. Remove or rename it; until then no chunk is removed.`,
      )
    if (files) yield* files
  }
}

const stepName = 'collect_garbage_stage'

/**
 * Removes the chunks of a provider that none of its chunk indexes names. Throws `invalid` for a connection without a provider,
 * `conflict` while somebody pushes to it, and `upstream` when an index cannot be read: then nothing is removed.
 */
export const collectProviderGarbage = async (
  { storages, ownLocks, indexParser }: Pick<CatalogContext, 'storages' | 'ownLocks' | 'indexParser'>,
  { connection, dry_run: dryRun, grace_hours: graceHours }: CollectGarbage,
  { plan, begin, end, signal }: ProgressReporter,
): Promise<CollectedGarbage> => {
  const { service, storage } = parseConnection(connection)
  if (service || !storage)
    throw new ServiceError('invalid', 'The connection must name a provider, and no other catalog.')
  plan([{ name: stepName, title: 'Look for chunks that nobody uses', weight: 100 }])
  begin(stepName)
  const provider = await storages.open(storage)
  const collected = await collectGarbage(provider, () => readIndexes(provider, indexParser, signal), {
    dryRun,
    graceMilliseconds: graceHours * 3_600_000,
    ownLocks: ownLocks,
    ...(signal && { signal }),
  })
  end(stepName)
  return { ...collected }
}
