import { importContract } from '#lib/transfers/contracts.ts'
import { ImportMachine } from '#lib/transfers/schemas.ts'
import { ImportResult } from '#lib/catalog/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { cancelOnDisconnect } from '#lib/http/cancel-on-disconnect.ts'

export default endpoint({
  ...importContract,
  path: '/v1/catalog/import-vm',
  summary: 'Import a pvm or macvm machine from a provider that has no description of it',
  job: { type: 'catalog', operation: 'import-vm', record: 'catalog_manifest', always: true },
  body: ImportMachine,
  reply: ImportResult,
}).handle((call, { transfers }) => transfers.importMachine(call.caller, call.body, cancelOnDisconnect(call)))
