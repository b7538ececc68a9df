import type { Job } from '#lib/client/api.gen.ts'
import { createCollection } from './collection.ts'
import { client } from './service.ts'

const newestFirst = (one: Job, other: Job): number => (one.created_at < other.created_at ? 1 : -1)

/** The jobs that the user may see, newest first. */
export const jobs = createCollection<Job>({
  load: async () => (await client.api.jobs.list()).toSorted(newestFirst),
  onEvent: (rows, { event_type: type }) => (type === 'job_manager' ? 'reload' : rows),
})
