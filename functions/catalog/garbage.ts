import { summarizeRequest, CollectedGarbage, CollectGarbage } from '#lib/catalog/chunk-garbage.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { storageFaults } from '#lib/catalog/contracts.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/catalog/garbage',
  summary: 'Collect the garbage of a provider: remove the chunks that no pack there uses, or only count them',
  access: { roles: ['SUPER_USER'] },
  effect: 'change',
  uses: ['catalog'],
  body: CollectGarbage,
  audited: ['dry_run', 'grace_hours'],
  faults: storageFaults,
  reply: CollectedGarbage,
  job: { type: 'catalog', operation: 'garbage', always: true, summarize: summarizeRequest },
}).handle(({ body, progress }, { catalog }) => catalog.collectGarbage(body, progress))
