import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { Job } from '#lib/jobs/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/jobs',
  summary: 'List your jobs, newest first; with JOB_MANAGER_LIST the jobs of all users',
  access: { anyClaim: ['JOB_MANAGER_LIST', 'JOB_MANAGER_LIST_OWN'] },
  effect: 'read',
  uses: ['jobs'],
  filter: true,
  reply: z.array(Job),
}).handle(async ({ caller }, { jobs }) => [...(await jobs.list(caller))])
