import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManifest, DownloadQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/download',
  summary: 'Show what a download of a manifest of a remote catalog needs',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: DownloadQuery,
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.download(call))
