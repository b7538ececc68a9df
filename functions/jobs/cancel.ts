import { endpoint } from '#lib/http/endpoint.ts'
import { Job, JobReference } from '#lib/jobs/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/jobs/{id}/cancel',
  summary: 'Cancel a job: its work stops in a stable state',
  access: { anyClaim: ['JOB_MANAGER_DELETE', 'JOB_MANAGER_LIST_OWN'] },
  effect: 'change',
  uses: ['jobs'],
  params: JobReference,
  reply: Job,
  status: 202,
}).handle(({ params, caller }, { jobs }) => jobs.cancel(params.id, caller))
