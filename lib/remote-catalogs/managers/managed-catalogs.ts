import type { ClaimName } from '#lib/access/claims.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'
import { createVisibilityCheck } from '#lib/catalog/visibility.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { formatCatalogPath } from '../catalog-path.ts'
import { createIdentityHeaders } from './identity-headers.ts'
import type { CatalogManagers } from './managers.ts'
import { parseMaskedManifests, refuseHiddenId, type RemoteManifest } from '../manifest-replies.ts'
import { parseReply } from '../parse-reply.ts'
import type { RemoteCatalogSession } from '../session.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import type { OutgoingReply } from '#lib/platform/outgoing-request.ts'
import { parseNextPage } from './next-page.ts'
import { createContentForwarder } from './content-forwarder.ts'
import type { RemoteClient } from '../remote-client.ts'

/** A call of an endpoint below `/v1/catalog-managers/{id}/catalog`. */
export interface CatalogCall {
  readonly caller: Principal | undefined
  readonly params: RemoteReference & { readonly id: string }
  readonly query: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

interface RemoteReference {
  readonly catalogId?: string | undefined
  readonly version?: string | undefined
  readonly architecture?: string | undefined
}

/** The manifests of a page that the caller may see, and the query of the next page. */
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
 * The catalogs of catalog managers. The caller's own rights decide what the caller sees and changes there, whatever the
 * credentials of the manager allow. Through the manager of somebody else, a caller can change manifests only with a claim that
 * holds for every catalog. Each method throws what `CatalogManagers.getForUse` and `RemoteClient.requestJson` throw.
 */
export interface ManagedCatalogs {
  /** Opens a session for a pull by this caller, or for a push. */
  openSession(caller: Principal, id: string, use: 'pull' | 'push'): Promise<RemoteCatalogSession>
  list(call: CatalogCall): Promise<ManifestPage>
  /** Throws `not-found` when the caller may see no manifest of the reference. */
  show(call: CatalogCall): Promise<RemoteManifest[]>
  download(call: CatalogCall): Promise<RemoteManifest[]>
  /** Opens the object of a manifest that the query names. Throws as `ForwardContent` too. */
  content(call: CatalogCall): Promise<RangeSource>
  /** Changes one manifest. `action` is the last segment of the path. */
  change(call: CatalogChange, method: 'PATCH' | 'PUT' | 'DELETE', action: string): Promise<RemoteManifest[]>
  /** Deletes the manifests of a reference that the caller may see. */
  remove(call: CatalogCall): Promise<void>
  /** Throws `conflict` when the registration would replace a manifest that the caller may not see. */
  register(call: Registration): Promise<RemoteManifest[]>
  /** Throws as `register`. */
  import(call: Registration, action: 'import' | 'import-vm'): Promise<Record<string, unknown>>
}

const formatPath = ({ catalogId, version, architecture }: RemoteReference, action?: string): string => {
  const parts = [catalogId, version, architecture, action].filter(part => part !== undefined)
  return formatCatalogPath(...parts)
}

interface Options {
  readonly managers: Pick<CatalogManagers, 'getForUse'>
  readonly remote: RemoteClient
}

export const createManagedCatalogs = ({ managers, remote }: Options): ManagedCatalogs => {
  const forwardContent = createContentForwarder()
  const openSession = async (
    caller: Principal,
    id: string,
    changeClaims?: readonly ClaimName[],
  ): Promise<RemoteCatalogSession> => ({
    server: await managers.getForUse(caller, id, changeClaims),
    remote,
    caller,
    headers: createIdentityHeaders(caller),
    canSee: createVisibilityCheck(caller),
  })
  /** Opens the catalog of a manager for a call. A change needs one of the claims, unless the manager is the caller's own. */
  const openCatalog = async ({ caller, params, query, signal }: CatalogCall, ...changeClaims: readonly ClaimName[]) => {
    if (!caller) throw new ServiceError('unauthenticated', 'The catalog of a manager has no public endpoints.')
    const session = await openSession(caller, params.id, changeClaims.length > 0 ? changeClaims : undefined)
    const common = { caller: session.caller.id, headers: session.headers }
    /** Reading ends when the caller disconnects. */
    const get = (path: string, pathQuery?: CatalogCall['query']): Promise<OutgoingReply> =>
      remote.request(session.server, { ...common, method: 'GET', path, query: pathQuery, signal })
    return {
      ...session,
      session,
      get,
      /** Reads all manifests of a path. */
      readManifests: async (path: string, pathQuery?: CatalogCall['query']): Promise<readonly RemoteManifest[]> =>
        parseMaskedManifests(parseReply(await get(path, pathQuery))),
      /** Sends a change. It continues when the caller disconnects. */
      send: (method: string, path: string, body?: unknown): Promise<unknown> =>
        remote.requestJson(session.server, { ...common, method, path, query, body }),
    }
  }
  type OpenCatalog = Awaited<ReturnType<typeof openCatalog>>

  const createNotFoundError = (): ServiceError =>
    new ServiceError('not-found', 'There is no such manifest in the remote catalog.')

  const readVisible = async (
    { readManifests, canSee }: OpenCatalog,
    path: string,
    query?: CatalogCall['query'],
  ): Promise<RemoteManifest[]> => {
    const visible = (await readManifests(path, query)).filter(canSee)
    if (visible.length === 0) throw createNotFoundError()
    return visible
  }
  /** Throws `not-found` when the caller may see no manifest of a reference. */
  const checkVisible = async (catalog: OpenCatalog, reference: RemoteReference): Promise<void> => {
    if (!catalog.caller.superUser) await readVisible(catalog, formatPath(reference))
  }
  /** Throws `conflict` when a registration would replace a hidden manifest, or add a version to a hidden catalog id. */
  const checkMayRegister = async (
    { caller, readManifests, canSee }: OpenCatalog,
    { catalog_id, version }: Registration['body'],
  ): Promise<void> => {
    if (caller.superUser) return
    const path = formatPath({ catalogId: normalizeName(catalog_id) })
    const versions = await readManifests(path).catch((error: unknown) => {
      if (isFault(error, 'not-found')) return []
      throw error
    })
    // Any architecture counts, and any spelling of the version, because the remote service decides which one is meant.
    const mayBeReplaced = (manifest: RemoteManifest): boolean =>
      version === undefined || normalizeName(manifest.version ?? '') === normalizeName(version)
    if (versions.some(manifest => mayBeReplaced(manifest) && !canSee(manifest)))
      throw new ServiceError('conflict', 'The remote catalog has this manifest already, and it is not yours to change.')
    refuseHiddenId(versions, canSee)
  }

  return {
    openSession: (caller, id, use) => openSession(caller, id, use === 'push' ? ['PUSH_CATALOG_MANIFEST'] : undefined),
    async list(call) {
      const { get, canSee } = await openCatalog(call)
      const reply = await get(formatPath({}), call.query)
      return { manifests: parseMaskedManifests(parseReply(reply)).filter(canSee), next: parseNextPage(reply) }
    },
    show: async call => readVisible(await openCatalog(call), formatPath(call.params), call.query),
    async download(call) {
      const catalog = await openCatalog(call)
      // The remote service counts the download, so the request must not reach a hidden manifest.
      await checkVisible(catalog, call.params)
      return readVisible(catalog, formatPath(call.params, 'download'), call.query)
    },
    async content(call) {
      const catalog = await openCatalog(call)
      const [found] = await readVisible(catalog, formatPath(call.params))
      // By the names of the visible manifest: a tag in the request may name another manifest by now.
      const { catalogId, version, architecture } = call.params
      const reference = {
        catalogId: found?.catalog_id || catalogId,
        version: found?.version || version,
        architecture: found?.architecture || architecture,
      }
      return forwardContent(catalog.session, formatPath(reference, 'download'), call.query, call.signal)
    },
    async change(call, method, action) {
      const catalog = await openCatalog(call, 'UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE')
      await checkVisible(catalog, call.params)
      const reply = await catalog.send(method, formatPath(call.params, action), call.body)
      return parseMaskedManifests(reply).filter(catalog.canSee)
    },
    async remove(call) {
      const { params } = call
      const { caller, readManifests, canSee, send } = await openCatalog(call, 'DELETE_CATALOG_MANIFEST')
      const all = caller.superUser ? [] : await readManifests(formatPath(params))
      const visible = all.filter(canSee)
      if (!caller.superUser && visible.length === 0) throw createNotFoundError()
      if (visible.length === all.length) await send('DELETE', formatPath(params))
      else
        for (const { catalog_id: catalogId, version, architecture } of visible) {
          // An incomplete reference would delete hidden manifests too.
          if (!catalogId || !version || !architecture)
            throw new ServiceError('upstream', 'The remote catalog has manifests without a version or an architecture.')
          await send('DELETE', formatPath({ catalogId, version, architecture }))
        }
    },
    async register(call) {
      const catalog = await openCatalog(call, 'CREATE_CATALOG_MANIFEST')
      await checkMayRegister(catalog, call.body)
      const reply = await catalog.send('POST', formatPath({}), call.body)
      return parseMaskedManifests(reply).filter(catalog.canSee)
    },
    async import(call, action) {
      const catalog = await openCatalog(call, 'IMPORT_CATALOG_MANIFEST', 'PUSH_CATALOG_MANIFEST')
      await checkMayRegister(catalog, call.body)
      const reply = await catalog.send('PUT', `/catalog/${action}`, call.body)
      if (typeof reply !== 'object' || reply === null || Array.isArray(reply))
        throw new ServiceError('upstream', 'The remote catalog does not say what it imported.')
      const { manifest, ...result }: { manifest?: unknown } = reply
      const [visible] = manifest ? parseMaskedManifests(manifest).filter(catalog.canSee) : []
      return { ...result, ...(visible && { manifest: visible }) }
    },
  }
}
