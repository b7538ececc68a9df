import { endpoint } from '#lib/http/endpoint.ts'
import { ContentReply } from '#lib/http/content.ts'
import { CatalogManifest, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/download',
  summary: 'Show what a download from a remote catalog needs, or with content=pack pass on the bytes (Range)',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  reply: RemoteManifests,
}).handle(async (call, { managedCatalogs }) =>
  'content' in call.query ? new ContentReply(await managedCatalogs.content(call)) : managedCatalogs.download(call),
)
