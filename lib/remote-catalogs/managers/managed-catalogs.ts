import type { ClaimName } from '#lib/access/claims.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'
import { createVisibilityCheck } from '#lib/catalog/visibility.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { createIdentityHeaders } from './identity-headers.ts'
import type { CatalogManagers } from './managers.ts'
import { type RemoteManifest, refuseHiddenId, parseMaskedManifests } from '../manifest-replies.ts'
import { parseReply } from '../parse-reply.ts'
import type { RemoteCatalogSession } from '../session.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import type { OutgoingReply } from '#lib/platform/outgoing.ts'
import { parseNextPage } from './next-page.ts'
import { createContentForwarder } from './content-forwarder.ts'
import type { RemoteClient } from '../remote-client.ts'
import type { CatalogManager } from './schemas.ts'

/** A call of an endpoint below `/v1/catalog-managers/{id}/catalog`. */
export interface CatalogCall {
  readonly caller: Principal | undefined
  readonly params: ManagedReference & { readonly id: string }
  readonly query: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

interface ManagedReference {
  readonly catalogId?: string | undefined
  readonly version?: string | undefined
  readonly architecture?: string | undefined
}

/** What of a page can be seen, and the query of the one after it. */
export interface ManifestPage {
  readonly manifests: readonly RemoteManifest[]
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
  openSession(caller: Principal, id: string, use: 'pull' | 'push'): Promise<RemoteCatalogSession>
  list(call: CatalogCall): Promise<ManifestPage>
  /** Throws `not-found` when nothing there can be seen. */
  show(call: CatalogCall): Promise<RemoteManifest[]>
  download(call: CatalogCall): Promise<RemoteManifest[]>
  /** The bytes of one manifest that the query asks for; throws also as `createRemoteContents` says. */
  content(call: CatalogCall): Promise<RangeSource>
  /** Changes one manifest; `action` is the last segment of the path. */
  change(call: CatalogChange, method: 'PATCH' | 'PUT' | 'DELETE', action: string): Promise<RemoteManifest[]>
  /** Deletes what can be seen of a catalog id, a version or an architecture. */
  remove(call: CatalogCall): Promise<void>
  /** Throws `conflict` where a manifest is in the way that cannot be seen. */
  register(call: Registration): Promise<RemoteManifest[]>
  /** As `register`. */
  import(call: Registration, action: 'import' | 'import-vm'): Promise<Record<string, unknown>>
}

const formatPath = ({ catalogId, version, architecture }: ManagedReference, action?: string): string => {
  const parts = [catalogId, version, architecture, action].filter(part => part !== undefined)
  return ['/catalog', ...parts.map(part => encodeURIComponent(part.toWellFormed()))].join('/')
}

interface Options {
  readonly managers: Pick<CatalogManagers, 'getForUse'>
  readonly remote: RemoteClient
}

export const createManagedCatalogs = ({ managers, remote }: Options): ManagedCatalogs => {
  const contentAt = createContentForwarder()
  /** The manager's catalog as this caller is shown it. */
  const openCatalog = async (
    { caller: someone, params, query, signal }: CatalogCall,
    ...toChange: readonly ClaimName[]
  ) => {
    const caller = someone!
    const manager: CatalogManager = await managers.getForUse(
      caller,
      params.id,
      toChange.length > 0 ? toChange : undefined,
    )
    const headers = createIdentityHeaders(caller)
    const common = { caller: caller.id, headers }
    const canSee = createVisibilityCheck(caller)
    /** Reading ends when the caller goes away. */
    const get = (path: string, query?: CatalogCall['query']): Promise<OutgoingReply> =>
      remote.request(manager, { ...common, method: 'GET', path, query, signal })
    return {
      caller,
      canSee,
      peer: { server: manager, remote, caller, headers, canSee } satisfies RemoteCatalogSession,
      get,
      /** All that a place holds. */
      read: async (path: string, query?: CatalogCall['query']): Promise<readonly RemoteManifest[]> =>
        parseMaskedManifests(parseReply(await get(path, query))),
      /** What was begun goes on. */
      send: (method: string, path: string, body?: unknown): Promise<unknown> =>
        remote.requestJson(manager, { ...common, method, path, query, body }),
    }
  }
  type Catalog = Awaited<ReturnType<typeof openCatalog>>

  const createNotFoundError = (): ServiceError =>
    new ServiceError('not-found', 'There is no such manifest in the remote catalog.')

  const seen = async (
    { read, canSee }: Catalog,
    path: string,
    query?: CatalogCall['query'],
  ): Promise<RemoteManifest[]> => {
    const found = (await read(path, query)).filter(canSee)
    if (found.length === 0) throw createNotFoundError()
    return found
  }
  /** Passes a place where something can be seen; a super user canSee all. */
  const checkVisible = async (catalog: Catalog, place: ManagedReference): Promise<void> => {
    if (!catalog.caller.superUser) await seen(catalog, formatPath(place))
  }
  const checkMayRegister = async ({ caller, read, canSee }: Catalog, { catalog_id, version }: Registration['body']) => {
    if (caller.superUser) return
    const versions = await read(formatPath({ catalogId: normalizeName(catalog_id) })).catch((error: unknown) => {
      if (isFault(error, 'not-found')) return []
      throw error
    })
    // Of all architectures, and by spellings that may mean the same there: it decides which version is meant.
    const isMeant = (one: RemoteManifest): boolean =>
      version === undefined || normalizeName(one.version ?? '') === normalizeName(version)
    if (versions.some(one => isMeant(one) && !canSee(one)))
      throw new ServiceError('conflict', 'The remote catalog has this manifest already, and it is not yours to change.')
    refuseHiddenId(versions, canSee)
  }

  return {
    async openSession(caller, id, use) {
      const server = await managers.getForUse(caller, id, use === 'push' ? ['PUSH_CATALOG_MANIFEST'] : undefined)
      return { server, remote, caller, headers: createIdentityHeaders(caller), canSee: createVisibilityCheck(caller) }
    },
    async list(call) {
      const { get, canSee } = await openCatalog(call)
      const reply = await get(formatPath({}), call.query)
      return { manifests: parseMaskedManifests(parseReply(reply)).filter(canSee), next: parseNextPage(reply) }
    },
    show: async call => seen(await openCatalog(call), formatPath(call.params), call.query),
    async download(call) {
      const catalog = await openCatalog(call)
      // It is counted there, so it must not reach what is not shown here.
      await checkVisible(catalog, call.params)
      return seen(catalog, formatPath(call.params, 'download'), call.query)
    },
    async content(call) {
      const catalog = await openCatalog(call)
      const [found] = await seen(catalog, formatPath(call.params))
      // By what was seen: a version may have other names, which lead elsewhere by now.
      const { catalogId, version, architecture } = call.params
      const place = {
        catalogId: found?.catalog_id || catalogId,
        version: found?.version || version,
        architecture: found?.architecture || architecture,
      }
      return contentAt(catalog.peer, formatPath(place, 'download'), call.query, call.signal)
    },
    async change(call, method, action) {
      const catalog = await openCatalog(call, 'UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE')
      await checkVisible(catalog, call.params)
      return parseMaskedManifests(await catalog.send(method, formatPath(call.params, action), call.body)).filter(
        catalog.canSee,
      )
    },
    async remove({ params, ...call }) {
      const catalog = await openCatalog({ params, ...call }, 'DELETE_CATALOG_MANIFEST')
      const { caller, read, canSee, send } = catalog
      const all = caller.superUser ? [] : await read(formatPath(params))
      const mine = all.filter(canSee)
      if (!caller.superUser && mine.length === 0) throw createNotFoundError()
      if (mine.length === all.length) await send('DELETE', formatPath(params))
      else
        for (const { catalog_id: catalogId, version, architecture } of mine) {
          // A place that is not complete would hold others as well.
          if (!catalogId || !version || !architecture)
            throw new ServiceError('upstream', 'The remote catalog has manifests without a version or an architecture.')
          await send('DELETE', formatPath({ catalogId, version, architecture }))
        }
    },
    async register(call) {
      const catalog = await openCatalog(call, 'CREATE_CATALOG_MANIFEST')
      await checkMayRegister(catalog, call.body)
      return parseMaskedManifests(await catalog.send('POST', formatPath({}), call.body)).filter(catalog.canSee)
    },
    async import(call, action) {
      const catalog = await openCatalog(call, 'IMPORT_CATALOG_MANIFEST', 'PUSH_CATALOG_MANIFEST')
      await checkMayRegister(catalog, call.body)
      const reply = await catalog.send('PUT', `/catalog/${action}`, call.body)
      if (typeof reply !== 'object' || reply === null || Array.isArray(reply))
        throw new ServiceError('upstream', 'The remote catalog does not say what it imported.')
      const { manifest, ...result }: { manifest?: unknown } = reply
      const shown = manifest ? parseMaskedManifests(manifest).filter(catalog.canSee) : []
      return { ...result, ...(shown.length > 0 && { manifest: shown[0] }) }
    },
  }
}
