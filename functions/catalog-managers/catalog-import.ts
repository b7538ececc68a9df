import { endpoint } from '#lib/http/endpoint.ts'
import { bodyLimit, Catalog, PassedQuery, RegisteredBody, RemoteImport } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/catalog-managers/{id}/catalog/import',
  summary: 'Import a manifest into a remote catalog from its storage',
  access: {
    anyClaim: [
      'PUSH_CATALOG_MANIFEST',
      'IMPORT_CATALOG_MANIFEST',
      'CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_IMPORT_CATALOG_MANIFEST_OWN',
    ],
  },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: Catalog,
  query: PassedQuery,
  body: RegisteredBody,
  bodyLimit,
  audited: ['catalog_id', 'version', 'architecture'],
  reply: RemoteImport,
}).handle((call, { managedCatalogs }) => managedCatalogs.import(call, 'import'))
