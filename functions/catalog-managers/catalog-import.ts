import { endpoint } from '#lib/http/endpoint.ts'
import { importing } from '#lib/managers/contracts.ts'

export default endpoint({
  ...importing,
  path: '/v1/catalog-managers/{id}/catalog/import',
  summary: 'Import a manifest into a remote catalog from its storage',
}).handle((call, { managedCatalogs }) => managedCatalogs.import(call, 'import'))
