import { aboutGarbage, CollectedGarbage, CollectGarbage } from '#lib/catalog/garbage.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/catalog/garbage',
  summary: 'Remove the chunks of a provider that no pack there uses any more, or only count them',
  access: { roles: ['SUPER_USER'] },
  effect: 'change',
  uses: ['catalog'],
  body: CollectGarbage,
  audited: ['dry_run', 'grace_hours'],
  reply: CollectedGarbage,
  job: { type: 'catalog', operation: 'garbage', always: true, about: aboutGarbage },
}).handle(({ body, work }, { catalog }) => catalog.collectGarbage(body, work))
