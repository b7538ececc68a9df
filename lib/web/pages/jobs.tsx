import type { Job } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { jobs } from '../state/jobs.ts'
import { linkTo } from '../state/route.ts'

const describeSubject = ({ about = {} }: Job): string =>
  Object.values(about)
    .filter(value => value !== 'false')
    .join(' ')

const columns: readonly Column<Job>[] = [
  {
    title: 'Job',
    cell: ({ id, job_type, job_operation }) => (
      <a href={linkTo('jobs', id)}>
        {job_type} {job_operation}
      </a>
    ),
  },
  { title: 'Of', kind: 'wide', cell: describeSubject },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: 'Progress',
    cell: ({ state, progress }) =>
      state === 'running' ? <progress max={100} value={progress} aria-label="Progress" /> : `${progress}%`,
  },
  { title: 'By', kind: 'wide', cell: ({ owner_name }) => owner_name },
  { title: 'Started', kind: 'wide', cell: ({ created_at }) => formatTime(created_at) },
  { title: 'Error', kind: 'wide', cell: ({ state, message, error }) => (state === 'failed' ? (message ?? error) : '') },
]

/** The long work of the service. */
export const JobsPage = (): JSX.Element => (
  <ListPage
    title="Jobs"
    collection={jobs}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={job =>
      `${job.job_type} ${job.job_operation} ${job.state} ${job.owner_name} ${describeSubject(job)} ${job.error ?? ''}`
    }
    empty="There are no jobs. Pushes, pulls and other long work appear here."
  >
    <Action
      label="Remove ended jobs"
      operation="jobs.cleanUp"
      explanation="The records of jobs that have ended are removed."
      toCall={() => ({})}
    />
  </ListPage>
)
