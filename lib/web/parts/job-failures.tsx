import type { Job } from '#lib/client/api.gen.ts'
import { follow } from '../state/live.ts'
import { session } from '../state/session.ts'
import { JobLink } from './job-link.tsx'
import { tellFailed } from './notices.tsx'

/** Tells the user of each own job that fails, wherever in the console they are. */
export const followJobFailures = (): void => {
  follow({
    reset: () => {},
    onEvent({ event_type: type, message, body }) {
      if (type !== 'job_manager' || message === 'JOB_DELETED') return
      // The events of jobs have the shape of jobs.
      const job = body as unknown as Job
      if (job.state !== 'failed' || job.owner !== session.get()?.user_id) return
      tellFailed(
        <>
          {job.message ?? job.error} <JobLink job={job}>To the job</JobLink>
        </>,
      )
    },
  })
}
