import { importing } from '#lib/catalog/transfers/contracts.ts'
import { ImportManifest, ImportResult } from '#lib/catalog/transfers/requests.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { untilGone } from '#lib/http/until-gone.ts'

export default endpoint({
  ...importing,
  path: '/v1/catalog/import',
  summary: 'Take a pack into the catalog that is on a provider with its description',
  job: { type: 'catalog', operation: 'import', record: 'catalog_manifest', always: true },
  body: ImportManifest,
  reply: ImportResult,
}).handle((call, { transfers }) => transfers.import(call.caller!, call.body, untilGone(call)))
