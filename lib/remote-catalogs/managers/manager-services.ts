import type { Publish } from '#lib/events/events.ts'
import type { Outgoing } from '#lib/platform/outgoing.ts'
import type { Store } from '#lib/storage/store.ts'
import { createManagedCatalogs, type ManagedCatalogs } from './managed-catalogs.ts'
import { type CatalogManagers, createCatalogManagers } from './managers.ts'
import type { ManagerRecords } from './records.ts'
import { createRemoteClient, type RemoteLimits } from '../remote-client.ts'

interface Options {
  readonly store: Store
  readonly records: ManagerRecords
  readonly publish: Publish
  readonly outgoing: Outgoing
  readonly limits?: RemoteLimits
}

/** The managers, and the catalogs that they stand for: the services that are about them, made to fit. */
export const createManagerServices = ({
  store,
  records,
  publish,
  outgoing,
  limits,
}: Options): { readonly catalogManagers: CatalogManagers; readonly managedCatalogs: ManagedCatalogs } => {
  const remote = createRemoteClient(outgoing, limits)
  const managers = createCatalogManagers({ store, records, publish, remote })
  return { catalogManagers: managers, managedCatalogs: createManagedCatalogs({ managers, remote }) }
}
