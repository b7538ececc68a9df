import { endpoint } from '#lib/http/endpoint.ts'
import {
  ManagedReferenceParams,
  passThroughManifests,
  PassThroughQuery,
  RemoteManifests,
} from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}',
  also: [
    'GET /v1/catalog-managers/{id}/catalog/{catalogId}/{version}',
    'GET /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}',
  ],
  summary: 'Show the manifests of a catalog id, a version or an architecture of a remote catalog',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: ManagedReferenceParams,
  query: PassThroughQuery,
  faults: remoteFaults,
  passThrough: passThroughManifests,
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.show(call))
