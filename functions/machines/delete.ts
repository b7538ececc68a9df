import { endpoint } from '#lib/http/endpoint.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { ForceQuery, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}',
  summary: 'Delete a stopped machine; force=true stops it first',
  access: { claims: ['DELETE_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'delete' },
  uses: ['machines'],
  params: MachineReference,
  query: ForceQuery,
  reply: Accepted,
  status: 202,
}).handle(async ({ params, query }, { machines }) => {
  await machines.remove(params.id, query)
  return accepted(`The machine ${params.id} was deleted.`)
})
