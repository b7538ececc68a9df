import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/jobs/cleanup',
  summary: 'Delete the records of all jobs that have ended',
  access: { anyClaim: ['JOB_MANAGER_DELETE', 'JOB_MANAGER_LIST_OWN'] },
  effect: 'change',
  uses: ['jobs'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller }, { jobs }) => {
  const count = await jobs.removeEnded(caller)
  return confirmDeletion(count === 1 ? '1 job was deleted.' : `${count} jobs were deleted.`)
})
