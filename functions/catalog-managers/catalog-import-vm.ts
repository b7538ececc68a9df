import { endpoint } from '#lib/http/endpoint.ts'
import { importing } from '#lib/managers/contracts.ts'

export default endpoint({
  ...importing,
  path: '/v1/catalog-managers/{id}/catalog/import-vm',
  summary: 'Import a machine into a remote catalog from its storage',
}).handle((call, { managedCatalogs }) => managedCatalogs.import(call, 'import-vm'))
