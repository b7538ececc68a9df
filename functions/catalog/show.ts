import { CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { CatalogReferenceParams } from '#lib/catalog/reference.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog/{catalogId}',
  also: ['GET /v1/catalog/{catalogId}/{version}', 'GET /v1/catalog/{catalogId}/{version}/{architecture}'],
  summary: 'Show the manifests of a catalog id, a version or an architecture',
  access: { claims: ['LIST_CATALOG_MANIFEST'] },
  effect: 'read',
  uses: ['catalog'],
  params: CatalogReferenceParams,
  hasETag: true,
  reply: CatalogManifests,
}).handle(({ caller, params }, { catalog }) => catalog.show(caller, params))
