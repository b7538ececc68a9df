import { endpoint } from '#lib/http/endpoint.ts'
import { Job, JobReference } from '#lib/jobs/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/jobs/{id}',
  summary: 'Show a job: its progress, and how it ended',
  access: { anyClaim: ['JOB_MANAGER_LIST', 'JOB_MANAGER_LIST_OWN'] },
  effect: 'read',
  uses: ['jobs'],
  params: JobReference,
  reply: Job,
}).handle(({ params, caller }, { jobs }) => jobs.show(params.id, caller))
