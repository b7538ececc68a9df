import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Missing } from '../parts/missing.tsx'
import { Problem } from '../parts/problem.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { formatTime } from '../parts/text.ts'
import { jobs } from '../state/jobs.ts'
import { goTo } from '../state/route.ts'
import { isMe } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import type { PageProps } from './pages.ts'

/** One job: how far it is, or how it ended. */
export const JobPage = ({ parts: [id = ''] }: PageProps): JSX.Element => {
  const list = useStore(jobs)
  const job = list.rows.find(row => row.id === id)
  if (!job) return <Missing what="job" list={list} />
  const isOver = job.state === 'completed' || job.state === 'failed'
  return (
    <section class="page">
      <header>
        <h1>
          {job.job_type} {job.job_operation}
        </h1>
        <StateBadge state={job.state} />
        <div class="actions">
          {isOver ? (
            <Action
              label="Remove"
              operation="jobs.delete"
              isOwn={isMe(job.owner)}
              explanation="The record of this job is removed. What the job did stays."
              toCall={() => ({ params: { id } })}
              onDone={() => goTo('jobs')}
            />
          ) : (
            <Action
              label="Cancel the job"
              kind="danger"
              operation="jobs.cancel"
              isOwn={isMe(job.owner)}
              toCall={() => ({ params: { id } })}
            />
          )}
        </div>
      </header>
      <Problem text={job.state === 'failed' ? (job.message ?? job.error) : undefined} />
      {!isOver && <progress max={100} value={job.progress} aria-label="Progress" />}
      {job.steps && (
        <ol class="steps">
          {job.steps.map(step => (
            <li key={step.name}>
              <StateBadge state={step.state} /> {step.display_name}
              {step.state === 'running' && step.has_percentage && ` · ${Math.round(step.current_percentage)}%`}
              {step.eta && ` · ${step.eta} left`}
              {(step.error ?? step.message) && <small class="hint"> {step.error ?? step.message}</small>}
            </li>
          ))}
        </ol>
      )}
      <Facts
        facts={[
          ...Object.entries(job.about ?? {}),
          ['By', job.owner_name],
          ['Started', formatTime(job.created_at)],
          ['Changed', formatTime(job.updated_at)],
          ['Id', <code>{job.id}</code>],
        ]}
      />
    </section>
  )
}
