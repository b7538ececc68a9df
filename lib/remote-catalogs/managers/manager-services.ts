import type { Publish } from '#lib/events/events.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import type { Store } from '#lib/storage/store.ts'
import { createManagedCatalogs, type ManagedCatalogs } from './managed-catalogs.ts'
import { type CatalogManagers, createCatalogManagers } from './managers.ts'
import type { ManagerRecords } from './records.ts'
import { createRemoteClient, type RemoteLimits } from '../remote-client.ts'

interface Options {
  readonly store: Store
  readonly records: ManagerRecords
  readonly publish: Publish
  readonly outgoing: SendOutgoing
  readonly limits: RemoteLimits
}

/** Creates the services for catalog managers and for their catalogs. Both use one client. */
export const createManagerServices = ({
  store,
  records,
  publish,
  outgoing,
  limits,
}: Options): { readonly catalogManagers: CatalogManagers; readonly managedCatalogs: ManagedCatalogs } => {
  const remote = createRemoteClient(outgoing, limits)
  const catalogManagers = createCatalogManagers({ store, records, publish, remote })
  return { catalogManagers, managedCatalogs: createManagedCatalogs({ managers: catalogManagers, remote }) }
}
