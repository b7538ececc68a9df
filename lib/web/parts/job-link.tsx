import type { Job } from '#lib/client/api.gen.ts'
import type { ComponentChildren, JSX } from 'preact'
import { linkTo } from '../state/route.ts'

/** Whether a reply of the service is a job. */
export const isJob = (reply: unknown): reply is Job =>
  typeof reply === 'object' && reply !== null && 'job_operation' in reply && 'id' in reply

interface Props {
  readonly job: Pick<Job, 'id'>
  readonly children: ComponentChildren
}

/** A text that leads to the page of a job. */
export const JobLink = ({ job, children }: Props): JSX.Element => <a href={linkTo('jobs', job.id)}>{children}</a>
