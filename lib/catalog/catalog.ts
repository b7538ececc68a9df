import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import type { PreparedBody, PreparedParts } from '#lib/calls/prepared-body.ts'
import type { ParsedFilter } from '#lib/calls/list-filter.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Store } from '#lib/storage/store.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { type CatalogContext, changeManifest, type ManifestCall, turnOf } from './changes.ts'
import { connectManifest } from './connect.ts'
import { slackMilliseconds } from '#lib/packs/chunk-store/repository-lock.ts'
import { createIndexParser } from '#lib/packs/chunks/index-parser.ts'
import { openOwnHolds } from './own-locks.ts'
import { createChunkContents } from './chunk-download.ts'
import { createClock } from './timestamps.ts'
import { createContents } from './contents.ts'
import { type ContentPart, contentOf } from './download.ts'
import { countDownload } from './download-count.ts'
import { describe, editLists, type listsOf } from './edits.ts'
import { findManifest, findManifests } from './find.ts'
import { type Mark, refuseMarked, revoke, taint, untaint } from './flags.ts'
import { type CollectedGarbage, collectFrom, type CollectGarbage } from './chunk-garbage.ts'
import { openInventory } from './inventory.ts'
import { StoredManifest } from './manifest-schema.ts'
import { refuseHiddenObjects } from './owners.ts'
import { encodeFound, encodeManifest, type ListQuery, listManifests } from './list.ts'
import type { Place } from './reference.ts'
import { createReaders } from './reader-limit.ts'
import { registerManifest } from './register.ts'
import { type Removal, type Removed, removeManifests } from './removal.ts'
import type { DescribeManifest, EditManifest, RegisterManifest } from './schemas.ts'
import type { Kept } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'

/**
 * The inventory of machine packs. What somebody may not see is not there for them. Replies are arrays of manifests as
 * text. Each throws `not-found`; changes also `precondition-failed`, and `upstream` when the provider fails, which then
 * have changed nothing.
 */
export interface Catalog {
  /** Throws `invalid` for a cursor that is none. */
  list(caller: Principal, query: ListQuery, filter?: ParsedFilter): Promise<PreparedBody | PreparedParts>
  show(caller: Principal, place: Place): Promise<PreparedBody | PreparedParts>
  /**
   * What a download needs, which is counted, once for its job. Throws `invalid` for a tainted manifest and `forbidden` for a
   * revoked one.
   */
  download(caller: Principal, place: Required<Place>, job: string | undefined): Promise<PreparedBody>
  /** The bytes of an object of a manifest. Throws as `download`; reading, `unavailable` for who reads too many at once. */
  content(caller: Principal, place: Required<Place>, part: ContentPart, signal: AbortSignal): Promise<RangeSource>
  /** What is kept of a chunk of a manifest. Throws as `download`. */
  chunk(caller: Principal, place: Required<Place>, sha256: string, signal: AbortSignal): Promise<RangeSource>
  /** Throws `invalid` and `forbidden` where the flag is not one to set. */
  mark(call: ManifestCall, flag: keyof typeof flags): Promise<PreparedBody>
  /** Adds or removes names. Throws `invalid` when there are none. */
  edit(
    call: ManifestCall,
    how: 'add' | 'remove',
    which: keyof typeof listsOf,
    request: EditManifest,
  ): Promise<PreparedBody>
  describe(call: ManifestCall, request: DescribeManifest): Promise<PreparedBody>
  connect(call: ManifestCall, connection: string): Promise<PreparedBody>
  register(caller: Principal, request: RegisterManifest, signal: AbortSignal): Promise<PreparedBody>
  /** Gives how many manifests were deleted. */
  remove(caller: Principal, place: Place, how: Removal): Promise<Removed>
  collectGarbage(request: CollectGarbage, work: ProgressReporter): Promise<CollectedGarbage>
}

const flags = {
  taint: [taint, 'TAINTED'],
  untaint: [untaint, 'UNTAINTED'],
  revoke: [revoke, 'REVOKED'],
} as const satisfies Readonly<Record<string, readonly [Mark, string]>>

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly storages: Storages
  readonly startWorker: StartWorker
  readonly manifestsPerUser: number
}

/** Opens the records of the catalog, and what its parts share. */
export const openCatalogContext = async ({
  store,
  publish,
  storages,
  startWorker,
  manifestsPerUser,
}: Options): Promise<CatalogContext> => {
  const manifests = store.collection('catalog-manifests', StoredManifest, {
    unique: { place: ({ catalog_id, version, architecture }) => `${catalog_id} ${version} ${architecture}` },
  })
  const inventory = await openInventory(manifests)
  return {
    manifests,
    inventory,
    contents: createContents(store.texts('catalog-contents')),
    storages,
    indexParser: createIndexParser(startWorker),
    clock: createClock(inventory.all().flatMap(one => [one.created_at, one.updated_at])),
    manifestsPerUser,
    ownHolds: await openOwnHolds(store, Date.now() - slackMilliseconds),
    turns: createKeyedMutex(),
    commit: writes => store.commit(writes),
    publish,
  }
}

export const createCatalog = (context: CatalogContext): Catalog => {
  const { inventory, contents, turns } = context
  const openFor = createReaders()
  const chunks = createChunkContents(context)
  const usable = (caller: Principal, place: Required<Place>): Kept => {
    const manifest = findManifest(inventory, caller, place)
    refuseMarked(manifest)
    return manifest
  }
  const edited = async (
    call: ManifestCall,
    apply: (manifest: StoredManifest) => StoredManifest,
  ): Promise<PreparedBody> =>
    encodeManifest(contents, await changeManifest(context, call, { event: 'UPDATED', described: true, apply }))

  return {
    list: async (caller, query, filter) => listManifests(context, caller, query, filter),
    show: async (caller, place) => encodeFound(contents, findManifests(inventory, caller, place)),
    async download(caller, place, job) {
      return encodeManifest(
        contents,
        await countDownload(context, caller, findManifest(inventory, caller, place).id, job),
      )
    },
    async content(caller, place, part, signal) {
      const manifest = usable(caller, place)
      await refuseHiddenObjects(context, caller, manifest)
      const { read, ...content } = await contentOf(context.storages, manifest, part, signal)
      return { ...content, read: range => openFor(caller.id, () => read(range)) }
    },
    async chunk(caller, place, sha256, signal) {
      const manifest = usable(caller, place)
      await refuseHiddenObjects(context, caller, manifest)
      const { read, ...content } = await chunks.of(caller.id, manifest, sha256, signal)
      return { ...content, read: range => openFor(caller.id, () => read(range)) }
    },
    async mark(call, flag) {
      const [change, event] = flags[flag]
      const { username } = call.caller
      const at = new Date().toISOString()
      const apply = (manifest: StoredManifest): StoredManifest => change(manifest, username, at)
      return encodeManifest(contents, await changeManifest(context, call, { event, described: false, apply }))
    },
    edit: (call, how, which, request) => edited(call, editLists(how, which, request)),
    describe(call, request) {
      if (Object.values(request).every(value => value === undefined))
        throw new ServiceError(
          'invalid',
          'There is nothing to change: send description, tags or required claims and roles.',
        )
      return edited(call, describe(request))
    },
    connect: async (call, connection) => encodeManifest(contents, await connectManifest(context, call, connection)),
    register: (caller, request, signal) =>
      turns(
        turnOf(request),
        async () => encodeManifest(contents, await registerManifest(context, caller, request, signal)),
        signal,
      ),
    remove: (caller, place, how) => removeManifests(context, caller, place, how),
    collectGarbage: (request, work) => collectFrom(context, request, work),
  }
}
