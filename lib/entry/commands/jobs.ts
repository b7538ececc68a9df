import { Command } from 'commander'
import { ServiceError } from '#lib/errors.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { endText, farText } from '../progress-line.ts'
import { jsonText, tableText, timeText, visible } from '../table.ts'
import { type Invocation, requireService, type Run } from './run.ts'

/** Throws `invalid` for an empty id, which would lead to all of them. */
const at = (id: string): string => {
  if (id === '') throw new ServiceError('invalid', 'Say which job, by its id; `vmhost jobs list` tells them.')
  return `/jobs/${encodeURIComponent(id)}`
}

const requireJobs = (invocation: Invocation): void => requireService(invocation, 'Jobs are known to the service alone')

/** What it is about, in the order in which it was asked for; of what is true or not the name, when it is. */
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
  const jobs = new Command('jobs').description('Long work of the service: pushes, pulls, clones')

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
      .description('Show how far a job is, or how it ended')
      .argument('<job>', 'its id')
      .option('--json', 'as JSON'),
    async (ask, invocation) => {
      requireJobs(invocation)
      const job = await ask<Job>('GET', at(invocation.args[0]!))
      console.log(invocation.options['json'] ? jsonText(job) : jobText(job))
    },
  )
  run(
    jobs.command('cancel').description('Tell a job to give up').argument('<job>', 'its id'),
    async (ask, invocation) => {
      requireJobs(invocation)
      const job = await ask<Job>('POST', `${at(invocation.args[0]!)}/cancel`)
      console.log(
        `The ${visible(job.job_operation)} gives up; \`vmhost jobs show ${visible(job.id)}\` tells when it has.`,
      )
    },
  )
  return jobs
}
