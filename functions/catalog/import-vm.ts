import { importing } from '#lib/catalog/transfers/contracts.ts'
import { ImportMachine, ImportResult } from '#lib/catalog/transfers/requests.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { untilGone } from '#lib/http/until-gone.ts'

export default endpoint({
  ...importing,
  path: '/v1/catalog/import-vm',
  summary: 'Take a pvm or macvm machine into the catalog that is on a provider without a description',
  job: { type: 'catalog', operation: 'import-vm', record: 'catalog_manifest', always: true },
  body: ImportMachine,
  reply: ImportResult,
}).handle((call, { transfers }) => transfers.importMachine(call.caller!, call.body, untilGone(call)))
