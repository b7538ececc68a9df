import { endpoint } from '#lib/http/endpoint.ts'
import {
  passThroughManifests,
  PassThroughQuery,
  PassThroughRegistration,
  RemoteManifests,
} from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { CatalogManagerReference } from '#lib/remote-catalogs/managers/schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import { bodyLimit, RegisterManifest } from '#lib/catalog/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/catalog-managers/{id}/catalog',
  summary: 'Register a manifest in a remote catalog',
  access: { anyClaim: ['CREATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_CREATE_CATALOG_MANIFEST_OWN'] },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManagerReference,
  query: PassThroughQuery,
  body: PassThroughRegistration,
  bodyLimit,
  audited: ['catalog_id', 'version', 'architecture'],
  faults: remoteFaults,
  passThrough: { ...passThroughManifests, body: RegisterManifest },
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.register(call))
