import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Tell } from '#lib/events/events.ts'
import type { Content } from '#lib/http/content.ts'
import type { Encoded } from '#lib/http/encoded.ts'
import type { AskedFilter } from '#lib/http/filter.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Work } from '#lib/work.ts'
import { type CatalogContext, changeManifest, type ManifestCall, turnOf } from './changes.ts'
import { connectManifest } from './connect.ts'
import { slackMilliseconds } from './chunks/hold.ts'
import { openOwnHolds } from './chunks/own-holds.ts'
import { createChunkContents } from './chunk-content.ts'
import { type ContentPart, contentOf } from './content.ts'
import { countDownload } from './count.ts'
import { describe, editLists, type listsOf } from './edits.ts'
import { findManifest, findManifests } from './find.ts'
import { type Mark, refuseMarked, revoke, taint, untaint } from './flags.ts'
import { type CollectedGarbage, collectFrom, type CollectGarbage } from './garbage.ts'
import { openInventory } from './inventory.ts'
import { StoredManifest } from './manifest.ts'
import { encodeFound, encodeManifest, type ListQuery, listManifests } from './page.ts'
import type { Place } from './place.ts'
import { createReaders } from './readers.ts'
import { registerManifest } from './register.ts'
import { type Removal, removeManifests } from './removal.ts'
import type { DescribeManifest, EditManifest, RegisterManifest } from './requests.ts'
import type { Kept } from './shown.ts'
import type { Storages } from './storages.ts'
import { createTurns } from './turns.ts'

/**
 * The inventory of machine packs. What somebody may not see is not there for them. Replies are arrays of manifests as
 * text. Each throws `not-found`; changes also `precondition-failed`, and `upstream` when the provider fails, which then
 * have changed nothing.
 */
export interface Catalog {
  /** Throws `invalid` for a cursor that is none. */
  list(caller: Principal, query: ListQuery, filter?: AskedFilter): Encoded
  show(caller: Principal, place: Place): Encoded
  /**
   * What a download needs, which is counted, once for its job. Throws `invalid` for a tainted manifest and `forbidden` for a
   * revoked one.
   */
  download(caller: Principal, place: Required<Place>, job: string | undefined): Promise<Encoded>
  /** The bytes of an object of a manifest. Throws as `download`; reading, `unavailable` for who reads too many at once. */
  content(caller: Principal, place: Required<Place>, part: ContentPart, signal: AbortSignal): Promise<Content>
  /** What is kept of a chunk of a manifest. Throws as `download`. */
  chunk(caller: Principal, place: Required<Place>, sha256: string, signal: AbortSignal): Promise<Content>
  /** Throws `invalid` and `forbidden` where the flag is not one to set. */
  mark(call: ManifestCall, flag: keyof typeof flags): Promise<Encoded>
  /** Adds or removes names. Throws `invalid` when there are none. */
  edit(call: ManifestCall, how: 'add' | 'remove', which: keyof typeof listsOf, request: EditManifest): Promise<Encoded>
  describe(call: ManifestCall, request: DescribeManifest): Promise<Encoded>
  connect(call: ManifestCall, connection: string): Promise<Encoded>
  register(caller: Principal, request: RegisterManifest): Promise<Encoded>
  /** Gives how many manifests were deleted. */
  remove(caller: Principal, place: Place, how: Removal): Promise<number>
  collectGarbage(request: CollectGarbage, work: Work): Promise<CollectedGarbage>
}

const flags = {
  taint: [taint, 'TAINTED'],
  untaint: [untaint, 'UNTAINTED'],
  revoke: [revoke, 'REVOKED'],
} as const satisfies Readonly<Record<string, readonly [Mark, string]>>

interface Options {
  readonly store: Store
  readonly tell: Tell
  readonly storages: Storages
}

/** Opens the records of the catalog, and what its parts share. */
export const openCatalogContext = async ({ store, tell, storages }: Options): Promise<CatalogContext> => {
  const manifests = store.collection('catalog-manifests', StoredManifest, {
    unique: { place: ({ catalog_id, version, architecture }) => `${catalog_id} ${version} ${architecture}` },
  })
  return {
    manifests,
    inventory: await openInventory(manifests),
    storages,
    ownHolds: await openOwnHolds(store, Date.now() - slackMilliseconds),
    turns: createTurns(),
    commit: writes => store.commit(writes),
    tell,
  }
}

export const createCatalog = (context: CatalogContext): Catalog => {
  const { inventory, turns } = context
  const openFor = createReaders()
  const chunks = createChunkContents(context.storages)
  const usable = (caller: Principal, place: Required<Place>): Kept => {
    const manifest = findManifest(inventory, caller, place)
    refuseMarked(manifest)
    return manifest
  }
  const edited = async (call: ManifestCall, apply: (manifest: StoredManifest) => StoredManifest): Promise<Encoded> =>
    encodeManifest(await changeManifest(context, call, { event: 'UPDATED', described: true, apply }))

  return {
    list: (caller, query, filter) => listManifests(inventory, caller, query, filter),
    show: (caller, place) => encodeFound(findManifests(inventory, caller, place)),
    async download(caller, place, job) {
      return encodeManifest(await countDownload(context, caller, findManifest(inventory, caller, place).id, job))
    },
    async content(caller, place, part, signal) {
      const { read, ...content } = await contentOf(context.storages, usable(caller, place), part, signal)
      return { ...content, read: range => openFor(caller.id, () => read(range)) }
    },
    async chunk(caller, place, sha256, signal) {
      const { read, ...content } = await chunks.of(caller.id, usable(caller, place), sha256, signal)
      return { ...content, read: range => openFor(caller.id, () => read(range)) }
    },
    async mark(call, flag) {
      const [change, event] = flags[flag]
      const { username } = call.caller
      const at = new Date().toISOString()
      const apply = (manifest: StoredManifest): StoredManifest => change(manifest, username, at)
      return encodeManifest(await changeManifest(context, call, { event, described: false, apply }))
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
    connect: async (call, connection) => encodeManifest(await connectManifest(context, call, connection)),
    register: (caller, request) =>
      turns(turnOf(request), async () => encodeManifest(await registerManifest(context, caller, request))),
    remove: (caller, place, how) => removeManifests(context, caller, place, how),
    collectGarbage: (request, work) => collectFrom(context, request, work),
  }
}
