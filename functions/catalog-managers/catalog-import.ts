import { endpoint } from '#lib/http/endpoint.ts'
import { importing } from '#lib/remote-catalogs/managers/contracts.ts'
import { passedImport } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { ImportManifest } from '#lib/transfers/schemas.ts'

export default endpoint({
  ...importing,
  path: '/v1/catalog-managers/{id}/catalog/import',
  summary: 'Import a manifest into a remote catalog from its storage',
  passThrough: { ...passedImport, body: ImportManifest },
}).handle((call, { managedCatalogs }) => managedCatalogs.import(call, 'import'))
