import { importContract } from '#lib/transfers/contracts.ts'
import { ImportManifest } from '#lib/transfers/schemas.ts'
import { ImportResult } from '#lib/catalog/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { cancelOnDisconnect } from '#lib/http/cancel-on-disconnect.ts'

export default endpoint({
  ...importContract,
  path: '/v1/catalog/import',
  summary: 'Import a pack from a provider that has its description',
  job: { type: 'catalog', operation: 'import', record: 'catalog_manifest', always: true },
  body: ImportManifest,
  reply: ImportResult,
}).handle((call, { transfers }) => transfers.import(call.caller, call.body, cancelOnDisconnect(call)))
