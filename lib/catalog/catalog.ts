import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import type { PreparedBody, PreparedParts } from '#lib/calls/prepared-body.ts'
import type { ParsedFilter } from '#lib/calls/list-filter.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Store } from '#lib/storage/store.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { type CatalogContext, changeManifest, type ManifestCall, toLockKey } from './changes.ts'
import { connectManifest } from './connect.ts'
import { slackMilliseconds } from '#lib/packs/chunk-store/repository-lock.ts'
import { createIndexParser } from '#lib/packs/chunks/index-parser.ts'
import { openOwnLocks } from './own-locks.ts'
import { createChunkReader } from './chunk-download.ts'
import { createClock } from './timestamps.ts'
import { createContentStore } from './contents.ts'
import { type ContentPart, openContent } from './download.ts'
import { countDownload } from './download-count.ts'
import { createDescriptionEdit, createListEdit, type listsByEndpoint } from './edits.ts'
import { findManifest, findManifests } from './find.ts'
import { type FlagChange, assertUsable, revoke, taint, untaint } from './flags.ts'
import { type CollectedGarbage, collectProviderGarbage, type CollectGarbage } from './chunk-garbage.ts'
import { openInventory } from './inventory.ts'
import { StoredManifest } from './manifest-schema.ts'
import { refuseHiddenObjects } from './owners.ts'
import { encodeFoundManifests, encodeManifest, type ListQuery, listManifests } from './list.ts'
import type { CatalogReference, ManifestReference } from './reference.ts'
import { createStreamLimit } from './stream-limit.ts'
import { registerManifest } from './register.ts'
import { type RemovalOptions, type RemovalResult, removeManifests } from './removal.ts'
import type { DescribeManifest, EditManifest, RegisterManifest } from './schemas.ts'
import type { ManifestRow } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'

/**
 * The catalog: the manifests of machine packs. A manifest that a caller may not see does not exist for that caller. Replies
 * are arrays of manifests as JSON. Each method throws `not-found`. Changes throw `precondition-failed` too, and `upstream` when
 * the provider fails; then they have changed nothing.
 */
export interface Catalog {
  /** Throws `invalid` for a bad cursor. */
  list(caller: Principal, query: ListQuery, filter?: ParsedFilter): Promise<PreparedBody | PreparedParts>
  show(caller: Principal, reference: CatalogReference): Promise<PreparedBody | PreparedParts>
  /**
   * Gives the manifest that a download needs, and counts the download, once for its job. Throws `invalid` for a tainted
   * manifest and `forbidden` for a revoked one.
   */
  download(caller: Principal, reference: ManifestReference, job: string | undefined): Promise<PreparedBody>
  /** Opens an object of a manifest. Throws as `download`. Reading throws `unavailable` when the caller has too many open. */
  content(caller: Principal, reference: ManifestReference, part: ContentPart, signal: AbortSignal): Promise<RangeSource>
  /** Opens a stored chunk of a manifest. Throws as `content`. */
  chunk(caller: Principal, reference: ManifestReference, sha256: string, signal: AbortSignal): Promise<RangeSource>
  /** Throws `invalid` and `forbidden` when the manifest's flags do not allow the change. */
  setFlag(call: ManifestCall, flag: keyof typeof flags): Promise<PreparedBody>
  /** Adds names to the lists of an endpoint, or removes them. Throws `invalid` when the request has none. */
  edit(
    call: ManifestCall,
    action: 'add' | 'remove',
    endpoint: keyof typeof listsByEndpoint,
    request: EditManifest,
  ): Promise<PreparedBody>
  describe(call: ManifestCall, request: DescribeManifest): Promise<PreparedBody>
  connect(call: ManifestCall, connection: string): Promise<PreparedBody>
  register(caller: Principal, request: RegisterManifest, signal: AbortSignal): Promise<PreparedBody>
  remove(caller: Principal, reference: CatalogReference, options: RemovalOptions): Promise<RemovalResult>
  collectGarbage(request: CollectGarbage, progress: ProgressReporter): Promise<CollectedGarbage>
}

const flags = {
  taint: [taint, 'TAINTED'],
  untaint: [untaint, 'UNTAINTED'],
  revoke: [revoke, 'REVOKED'],
} as const satisfies Readonly<Record<string, readonly [FlagChange, string]>>

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly storages: Storages
  /** Starts the threads that parse long chunk indexes; undefined in a program without threads. */
  readonly startWorker: StartWorker | undefined
  readonly manifestsPerUser: number
}

/** Opens the records of the catalog, and makes the state that its parts share. */
export const openCatalogContext = async ({
  store,
  publish,
  storages,
  startWorker,
  manifestsPerUser,
}: Options): Promise<CatalogContext> => {
  const manifests = store.collection('catalog-manifests', StoredManifest, {
    unique: { reference: ({ catalog_id, version, architecture }) => `${catalog_id} ${version} ${architecture}` },
  })
  const inventory = await openInventory(manifests)
  return {
    manifests,
    inventory,
    contents: createContentStore(store.texts('catalog-contents')),
    storages,
    indexParser: createIndexParser(startWorker),
    clock: createClock(inventory.list().flatMap(manifest => [manifest.created_at, manifest.updated_at])),
    manifestsPerUser,
    ownLocks: await openOwnLocks(store, Date.now() - slackMilliseconds),
    withLock: createKeyedMutex(),
    commit: writes => store.commit(writes),
    publish,
  }
}

export const createCatalog = (context: CatalogContext): Catalog => {
  const { inventory, contents, withLock } = context
  const openLimited = createStreamLimit()
  const chunkReader = createChunkReader(context)
  /** Finds a manifest whose objects the caller may read. */
  const findReadable = async (caller: Principal, reference: ManifestReference): Promise<ManifestRow> => {
    const manifest = findManifest(inventory, caller, reference)
    assertUsable(manifest)
    await refuseHiddenObjects(context, caller, manifest)
    return manifest
  }
  const limitReads = (caller: Principal, { read, ...content }: RangeSource): RangeSource => ({
    ...content,
    read: range => openLimited(caller.id, () => read(range)),
  })
  const applyEdit = async (
    call: ManifestCall,
    apply: (manifest: StoredManifest) => StoredManifest,
  ): Promise<PreparedBody> =>
    encodeManifest(contents, await changeManifest(context, call, { event: 'UPDATED', updatesMetadata: true, apply }))

  return {
    list: async (caller, query, filter) => listManifests(context, caller, query, filter),
    show: async (caller, reference) => encodeFoundManifests(contents, findManifests(inventory, caller, reference)),
    async download(caller, reference, job) {
      const { id } = findManifest(inventory, caller, reference)
      return encodeManifest(contents, await countDownload(context, caller, id, job))
    },
    async content(caller, reference, part, signal) {
      const manifest = await findReadable(caller, reference)
      return limitReads(caller, await openContent(context.storages, manifest, part, signal))
    },
    async chunk(caller, reference, sha256, signal) {
      const manifest = await findReadable(caller, reference)
      return limitReads(caller, await chunkReader.open(caller.id, manifest, sha256, signal))
    },
    async setFlag(call, flag) {
      const [change, event] = flags[flag]
      const { username } = call.caller
      const at = new Date().toISOString()
      const apply = (manifest: StoredManifest): StoredManifest => change(manifest, username, at)
      return encodeManifest(contents, await changeManifest(context, call, { event, updatesMetadata: false, apply }))
    },
    edit: (call, action, endpoint, request) => applyEdit(call, createListEdit(action, endpoint, request)),
    describe(call, request) {
      if (Object.values(request).every(value => value === undefined))
        throw new ServiceError(
          'invalid',
          'There is nothing to change: send description, tags or required claims and roles.',
        )
      return applyEdit(call, createDescriptionEdit(request))
    },
    connect: async (call, connection) => encodeManifest(contents, await connectManifest(context, call, connection)),
    register: (caller, request, signal) =>
      withLock(
        toLockKey(request),
        async () => encodeManifest(contents, await registerManifest(context, caller, request, signal)),
        signal,
      ),
    remove: (caller, reference, options) => removeManifests(context, caller, reference, options),
    collectGarbage: (request, progress) => collectProviderGarbage(context, request, progress),
  }
}
