import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { JobReference } from '#lib/jobs/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/jobs/{id}',
  summary: 'Delete the record of a job that has ended',
  access: { anyClaim: ['JOB_MANAGER_DELETE', 'JOB_MANAGER_LIST_OWN'] },
  effect: 'change',
  uses: ['jobs'],
  params: JobReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { jobs }) => {
  await jobs.remove(params.id, caller)
  return confirmDeletion(`The job ${params.id} was deleted.`)
})
