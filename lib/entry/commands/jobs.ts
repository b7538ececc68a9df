import { Command } from 'commander'
import { ServiceError } from '#lib/errors.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { endText, farText } from '../admin/progress-line.ts'
import { jsonText, tableText, timeText, visible } from '../admin/text-table.ts'
import { type Invocation, requireService, type Run } from './run.ts'

/** The path of a job. Throws `invalid` for an empty id, because its path would mean all jobs. */
const at = (id: string): string => {
  if (id === '') throw new ServiceError('invalid', 'Name the job by its id; `vmhost jobs list` shows the ids.')
  return `/jobs/${encodeURIComponent(id)}`
}

const requireJobs = (invocation: Invocation): void => requireService(invocation, 'Jobs need a running service')

/** The parameters of the job's request, in their order. A flag appears by its name if it is true. */
const aboutText = ({ about = {} }: Job): string =>
  Object.entries(about)
    .filter(([, value]) => value !== 'false')
    .map(([key, value]) => (value === 'true' ? key : value))
    .join(' ')

const rowOf = (job: Job): readonly string[] => [
  job.id,
  `${job.job_type} ${job.job_operation}`,
  job.state,
  `${job.progress}%`.padStart(4),
  timeText(job.created_at),
  job.owner_name,
  aboutText(job),
]

const stepText = (step: NonNullable<Job['steps']>[number]): string => {
  if (step.state === 'running') return farText(step)
  return step.state === 'pending' ? '' : endText(step) || step.state
}

const jobText = (job: Job): string => {
  const rows: readonly (readonly [string, string])[] = [
    ['what', `${job.job_type} ${job.job_operation}`],
    ['of', aboutText(job)],
    ['by', job.owner_name],
    ['state', `${job.state}, ${job.progress}%`],
    ['message', job.message ?? ''],
    ['error', job.error ?? ''],
    ['begun', timeText(job.created_at)],
    ['changed', timeText(job.updated_at)],
  ]
  const said = rows.filter(([, value]) => value !== '').map(([name, value]) => [`  ${name}`, value])
  const steps = (job.steps ?? []).map(step => [`  ${step.display_name}`, stepText(step)])
  return [visible(job.id), tableText(said), ...(steps.length > 0 ? ['', tableText(steps)] : [])].join('\n')
}

/** `vmhost jobs …` */
export const jobsCommand = (run: Run): Command => {
  const jobs = new Command('jobs').description('Jobs: long work of the service, such as pushes, pulls and clones')

  run(
    jobs.command('list').description('List the jobs, newest first').option('--json', 'as JSON'),
    async (ask, invocation) => {
      requireJobs(invocation)
      const all = await ask<Job[]>('GET', '/jobs')
      if (invocation.options['json']) return console.log(jsonText(all))
      const heads = ['JOB', 'WHAT', 'STATE', 'DONE', 'BEGUN', 'BY', 'OF']
      console.log(all.length === 0 ? 'There are no jobs.' : tableText([heads, ...all.map(rowOf)]))
    },
  )
  run(
    jobs
      .command('show')
      .description('Show the progress of a job, or how it ended')
      .argument('<job>', 'id of the job')
      .option('--json', 'as JSON'),
    async (ask, invocation) => {
      requireJobs(invocation)
      const job = await ask<Job>('GET', at(invocation.args[0]!))
      console.log(invocation.options['json'] ? jsonText(job) : jobText(job))
    },
  )
  run(
    jobs.command('cancel').description('Cancel a job').argument('<job>', 'id of the job'),
    async (ask, invocation) => {
      requireJobs(invocation)
      const job = await ask<Job>('POST', `${at(invocation.args[0]!)}/cancel`)
      console.log(
        `Cancelling the ${visible(job.job_operation)}; \`vmhost jobs show ${visible(job.id)}\` shows when it has ended.`,
      )
    },
  )
  return jobs
}
