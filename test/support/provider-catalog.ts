import { openCatalogContext } from '#lib/catalog/catalog.ts'
import { registerManifest } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { newEventLog } from './events.ts'
import { anyFile } from './host-files.ts'

const caller = { id: 'x', username: 'x', email: '', roles: [], claims: new Set<string>(), superUser: true }
const reference = { catalogId: 'demo', version: '1', architecture: 'x86_64' }

/** A catalog with one manifest, whose pack and description are on this provider. */
export const openProviderCatalog = async (provider: Partial<Provider>) => {
  const catalog = await openCatalogContext({
    ...(await newEventLog()),
    manifestsPerUser: 10,
    startWorker: createStartWorker(new URL('../../lib/entry/main.ts', import.meta.url)),
    storages: {
      ...createHostStorages({ folder: '/nowhere', hostFiles: anyFile }),
      open: async () => provider as Provider,
    },
  })
  const request = {
    catalog_id: reference.catalogId,
    version: reference.version,
    architecture: reference.architecture,
    provider: { type: 'local-storage', meta: {} },
    path: '/demo',
    pack_filename: 'pack',
    metadata_filename: 'meta',
  }
  await registerManifest(catalog, caller, RegisterManifest.parse(request))
  return { catalog, call: { caller, reference, ifMatch: undefined, signal: new AbortController().signal } }
}

/** A change that leaves the manifest as it is, and describes it on the provider. */
export const noChange = { event: 'UPDATED', updatesMetadata: true, apply: <T>(manifest: T) => manifest }
