import type { Principal } from '#lib/auth/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { turnOf } from '../changes.ts'
import type { Connection } from '../connection.ts'
import type { CatalogManifest, StoredManifest } from '../manifest.ts'
import { registeredBefore, registerManifest } from '../register.ts'
import { manifestsIn } from '../remote/manifests.ts'
import { catalogPath, serverOf } from '../remote/place.ts'
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

const remoteTarget = (
  { remote }: TransferContext,
  { id }: Principal,
  service: NonNullable<Connection['service']>,
): Target => {
  const server = serverOf(service)
  return {
    async before({ catalog_id, version }, architecture) {
      const path = catalogPath(catalog_id, version, architecture)
      const reply = await remote.ask(server, { caller: id, method: 'GET', path }).catch((error: unknown) => {
        if (isFault(error, 'not-found')) return []
        throw error
      })
      const found = manifestsIn(reply).find(one => one.version === version)
      const text = (key: string): string => (typeof found?.[key] === 'string' ? found[key] : '')
      return found && { pack_filename: text('pack_filename'), pack_sha256: text('pack_sha256') }
    },
    async register(registration) {
      const reply = await remote.ask(server, { caller: id, method: 'POST', path: '/catalog', body: registration })
      const [registered] = manifestsIn(reply)
      if (!registered)
        throw new ServiceError('upstream', `The catalog of ${server.name} does not say what it registered.`)
      return registered as unknown as CatalogManifest
    },
  }
}

/** The catalog that a connection means: the one of its host, else that of this service. Throws `invalid`. */
export const targetOf = (context: TransferContext, caller: Principal, { service, storage }: Connection): Target => {
  if (!service) return localTarget(context, caller)
  if (storage?.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The connection names another catalog and local storage, which that could not read. Name a storage that both reach; or push to the catalog of this host, from which others can pull.',
    )
  return remoteTarget(context, caller, service)
}
