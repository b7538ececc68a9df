import { endpoint } from '#lib/http/endpoint.ts'
import { importContract } from '#lib/remote-catalogs/managers/contracts.ts'
import { passThroughImport } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { ImportManifest } from '#lib/transfers/schemas.ts'

export default endpoint({
  ...importContract,
  path: '/v1/catalog-managers/{id}/catalog/import',
  summary: 'Import a manifest into a remote catalog from its storage',
  passThrough: { ...passThroughImport, body: ImportManifest },
}).handle((call, { managedCatalogs }) => managedCatalogs.import(call, 'import'))
