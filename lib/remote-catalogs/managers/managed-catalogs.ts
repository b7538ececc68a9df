import type { ClaimName } from '#lib/access/claims.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'
import { visibleTo } from '#lib/catalog/visibility.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { identityHeaders } from './identity-headers.ts'
import type { CatalogManagers } from './managers.ts'
import { type Manifest, refuseHiddenId, shownManifestsIn } from '../manifest-replies.ts'
import { jsonOf } from '../read-json.ts'
import type { Peer } from '../session.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import type { OutgoingReply } from '#lib/platform/outgoing.ts'
import { nextPage } from './next-page.ts'
import { createRemoteContents } from './remote-content.ts'
import type { Remote } from '../remote-client.ts'
import type { CatalogManager } from './schemas.ts'

/** A call of an endpoint below `/v1/catalog-managers/{id}/catalog`. */
export interface CatalogCall {
  readonly caller: Principal | undefined
  readonly params: Place & { readonly id: string }
  readonly query: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

interface Place {
  readonly catalogId?: string | undefined
  readonly version?: string | undefined
  readonly architecture?: string | undefined
}

/** What of a page can be seen, and the query of the one after it. */
export interface ManifestPage {
  readonly manifests: readonly Manifest[]
  readonly next: URLSearchParams | undefined
}

interface CatalogChange extends CatalogCall {
  readonly body?: unknown
}

interface Registration extends CatalogCall {
  readonly body: { readonly catalog_id: string; readonly version?: string | undefined }
}

/**
 * The catalogs that managers stand for, as far as the caller's own rights reach: what they do not see here they neither
 * get nor change, whatever the manager's credentials can; and by a manager of somebody else only who may change every
 * catalog changes anything. Each throws what `CatalogManagers.forUse` and `Remote.ask` do.
 */
export interface ManagedCatalogs {
  /** The catalog of a manager, for a pull by this caller, or a push to it. */
  peer(caller: Principal, id: string, use: 'pull' | 'push'): Promise<Peer>
  list(call: CatalogCall): Promise<ManifestPage>
  /** Throws `not-found` when nothing there can be seen. */
  show(call: CatalogCall): Promise<Manifest[]>
  download(call: CatalogCall): Promise<Manifest[]>
  /** The bytes of one manifest that the query asks for; throws also as `createRemoteContents` says. */
  content(call: CatalogCall): Promise<RangeSource>
  /** Changes one manifest; `action` is the last segment of the path. */
  change(call: CatalogChange, method: 'PATCH' | 'PUT' | 'DELETE', action: string): Promise<Manifest[]>
  /** Deletes what can be seen of a catalog id, a version or an architecture. */
  remove(call: CatalogCall): Promise<void>
  /** Throws `conflict` where a manifest is in the way that cannot be seen. */
  register(call: Registration): Promise<Manifest[]>
  /** As `register`. */
  import(call: Registration, action: 'import' | 'import-vm'): Promise<Record<string, unknown>>
}

const pathOf = ({ catalogId, version, architecture }: Place, action?: string): string => {
  const parts = [catalogId, version, architecture, action].filter(part => part !== undefined)
  return ['/catalog', ...parts.map(part => encodeURIComponent(part.toWellFormed()))].join('/')
}

interface Options {
  readonly managers: Pick<CatalogManagers, 'forUse'>
  readonly remote: Remote
}

export const createManagedCatalogs = ({ managers, remote }: Options): ManagedCatalogs => {
  const contentAt = createRemoteContents()
  /** The manager's catalog as this caller is shown it. */
  const enter = async ({ caller: someone, params, query, signal }: CatalogCall, ...toChange: readonly ClaimName[]) => {
    const caller = someone!
    const manager: CatalogManager = await managers.forUse(caller, params.id, toChange.length > 0 ? toChange : undefined)
    const headers = identityHeaders(caller)
    const common = { caller: caller.id, headers }
    const sees = visibleTo(caller)
    /** Reading ends when the caller goes away. */
    const get = (path: string, query?: CatalogCall['query']): Promise<OutgoingReply> =>
      remote.read(manager, { ...common, method: 'GET', path, query, signal })
    return {
      caller,
      sees,
      peer: { server: manager, remote, caller, headers, sees } satisfies Peer,
      get,
      /** All that a place holds. */
      read: async (path: string, query?: CatalogCall['query']): Promise<readonly Manifest[]> =>
        shownManifestsIn(jsonOf(await get(path, query))),
      /** What was begun goes on. */
      send: (method: string, path: string, body?: unknown): Promise<unknown> =>
        remote.ask(manager, { ...common, method, path, query, body }),
    }
  }
  type Catalog = Awaited<ReturnType<typeof enter>>

  const nothing = (): ServiceError => new ServiceError('not-found', 'There is no such manifest in the remote catalog.')

  const seen = async ({ read, sees }: Catalog, path: string, query?: CatalogCall['query']): Promise<Manifest[]> => {
    const found = (await read(path, query)).filter(sees)
    if (found.length === 0) throw nothing()
    return found
  }
  /** Passes a place where something can be seen; a super user sees all. */
  const checkSeen = async (catalog: Catalog, place: Place): Promise<void> => {
    if (!catalog.caller.superUser) await seen(catalog, pathOf(place))
  }
  const checkFree = async ({ caller, read, sees }: Catalog, { catalog_id, version }: Registration['body']) => {
    if (caller.superUser) return
    const versions = await read(pathOf({ catalogId: normalizeName(catalog_id) })).catch((error: unknown) => {
      if (isFault(error, 'not-found')) return []
      throw error
    })
    // Of all architectures, and by spellings that may mean the same there: it decides which version is meant.
    const isMeant = (one: Manifest): boolean =>
      version === undefined || normalizeName(one.version ?? '') === normalizeName(version)
    if (versions.some(one => isMeant(one) && !sees(one)))
      throw new ServiceError('conflict', 'The remote catalog has this manifest already, and it is not yours to change.')
    refuseHiddenId(versions, sees)
  }

  return {
    async peer(caller, id, use) {
      const server = await managers.forUse(caller, id, use === 'push' ? ['PUSH_CATALOG_MANIFEST'] : undefined)
      return { server, remote, caller, headers: identityHeaders(caller), sees: visibleTo(caller) }
    },
    async list(call) {
      const { get, sees } = await enter(call)
      const reply = await get(pathOf({}), call.query)
      return { manifests: shownManifestsIn(jsonOf(reply)).filter(sees), next: nextPage(reply) }
    },
    show: async call => seen(await enter(call), pathOf(call.params), call.query),
    async download(call) {
      const catalog = await enter(call)
      // It is counted there, so it must not reach what is not shown here.
      await checkSeen(catalog, call.params)
      return seen(catalog, pathOf(call.params, 'download'), call.query)
    },
    async content(call) {
      const catalog = await enter(call)
      const [found] = await seen(catalog, pathOf(call.params))
      // By what was seen: a version may have other names, which lead elsewhere by now.
      const { catalogId, version, architecture } = call.params
      const place = {
        catalogId: found?.catalog_id || catalogId,
        version: found?.version || version,
        architecture: found?.architecture || architecture,
      }
      return contentAt(catalog.peer, pathOf(place, 'download'), call.query, call.signal)
    },
    async change(call, method, action) {
      const catalog = await enter(call, 'UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE')
      await checkSeen(catalog, call.params)
      return shownManifestsIn(await catalog.send(method, pathOf(call.params, action), call.body)).filter(catalog.sees)
    },
    async remove({ params, ...call }) {
      const catalog = await enter({ params, ...call }, 'DELETE_CATALOG_MANIFEST')
      const { caller, read, sees, send } = catalog
      const all = caller.superUser ? [] : await read(pathOf(params))
      const mine = all.filter(sees)
      if (!caller.superUser && mine.length === 0) throw nothing()
      if (mine.length === all.length) await send('DELETE', pathOf(params))
      else
        for (const { catalog_id: catalogId, version, architecture } of mine) {
          // A place that is not complete would hold others as well.
          if (!catalogId || !version || !architecture)
            throw new ServiceError('upstream', 'The remote catalog has manifests without a version or an architecture.')
          await send('DELETE', pathOf({ catalogId, version, architecture }))
        }
    },
    async register(call) {
      const catalog = await enter(call, 'CREATE_CATALOG_MANIFEST')
      await checkFree(catalog, call.body)
      return shownManifestsIn(await catalog.send('POST', pathOf({}), call.body)).filter(catalog.sees)
    },
    async import(call, action) {
      const catalog = await enter(call, 'IMPORT_CATALOG_MANIFEST', 'PUSH_CATALOG_MANIFEST')
      await checkFree(catalog, call.body)
      const reply = await catalog.send('PUT', `/catalog/${action}`, call.body)
      if (typeof reply !== 'object' || reply === null || Array.isArray(reply))
        throw new ServiceError('upstream', 'The remote catalog does not say what it imported.')
      const { manifest, ...result }: { manifest?: unknown } = reply
      const shown = manifest ? shownManifestsIn(manifest).filter(catalog.sees) : []
      return { ...result, ...(shown.length > 0 && { manifest: shown[0] }) }
    },
  }
}
