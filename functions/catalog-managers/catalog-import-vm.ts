import { endpoint } from '#lib/http/endpoint.ts'
import { importContract } from '#lib/remote-catalogs/managers/contracts.ts'
import { passThroughImport } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { ImportMachine } from '#lib/transfers/schemas.ts'

export default endpoint({
  ...importContract,
  path: '/v1/catalog-managers/{id}/catalog/import-vm',
  summary: 'Import a machine into a remote catalog from its storage',
  passThrough: { ...passThroughImport, body: ImportMachine },
}).handle((call, { managedCatalogs }) => managedCatalogs.import(call, 'import-vm'))
