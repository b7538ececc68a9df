import { CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { CatalogQuery } from '#lib/catalog/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog',
  summary: 'List the manifests of the catalog that you may see',
  access: { claims: ['LIST_CATALOG_MANIFEST'] },
  effect: 'read',
  uses: ['catalog'],
  query: CatalogQuery,
  filter: 'handled',
  hasETag: true,
  paged: true,
  reply: CatalogManifests,
}).handle(({ caller, query, filter }, { catalog }) => catalog.list(caller, query, filter))
