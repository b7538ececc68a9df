import type { Principal } from '#lib/auth/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { turnOf } from '../changes.ts'
import type { Storage } from '../connection.ts'
import type { CatalogManifest, StoredManifest } from '../manifest.ts'
import { registeredBefore, registerManifest } from '../register.ts'
import { manifestsIn } from '../remote/manifests.ts'
import { askPeer, type Peer } from '../remote/peer.ts'
import { catalogPath } from '../remote/place.ts'
import type { RegisterManifest } from '../requests.ts'
import { shownManifest } from '../shown.ts'
import type { TransferContext } from './context.ts'
import type { Before } from './pushed-objects.ts'

type Named = Pick<RegisterManifest, 'catalog_id' | 'version'>

/** The catalog that a push tells of its pack. */
export interface Target {
  /** What it has of that already; with its record where it is this service's. Throws `conflict` for what the caller may not know of. */
  before(what: Named, architecture: string): Promise<(Before & { readonly record?: StoredManifest }) | undefined>
  register(registration: RegisterManifest): Promise<CatalogManifest>
}

const localTarget = ({ catalog }: TransferContext, caller: Principal): Target => ({
  async before(what, architecture) {
    const found = registeredBefore(catalog, caller, { ...what, architecture })
    return found && { ...found, record: found }
  },
  register: registration =>
    catalog.turns(turnOf(registration), async () =>
      shownManifest(await registerManifest(catalog, caller, registration)),
    ),
})

const peerTarget = (peer: Peer): Target => ({
  async before({ catalog_id, version }, architecture) {
    const path = catalogPath(catalog_id, version, architecture)
    const reply = await askPeer(peer, { method: 'GET', path }).catch((error: unknown) => {
      if (isFault(error, 'not-found')) return []
      throw error
    })
    const found = manifestsIn(reply).find(one => one.version === version)
    if (found && !peer.sees(found))
      throw new ServiceError('conflict', 'The other catalog has this manifest already, and it is not yours to change.')
    const text = (key: string): string => (typeof found?.[key] === 'string' ? found[key] : '')
    return (
      found && {
        pack_filename: text('pack_filename'),
        pack_sha256: text('pack_sha256'),
        revoked: found['revoked'] === true,
      }
    )
  },
  async register(registration) {
    const reply = await askPeer(peer, { method: 'POST', path: '/catalog', body: registration })
    const [registered] = manifestsIn(reply)
    if (!registered)
      throw new ServiceError('upstream', `The catalog of ${peer.server.name} does not say what it registered.`)
    return registered as unknown as CatalogManifest
  },
})

/** The catalog that a push tells: of a peer, or without one of this service. Throws `invalid`. */
export const targetOf = (
  context: TransferContext,
  caller: Principal,
  storage: Storage,
  peer: Peer | undefined,
): Target => {
  if (!peer) return localTarget(context, caller)
  if (storage.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The push is to another catalog and to local storage, which that could not read. Name a storage that both reach; or push to the catalog of this host, from which others can pull.',
    )
  return peerTarget(peer)
}
