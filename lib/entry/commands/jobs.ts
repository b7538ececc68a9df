import { Command } from 'commander'
import { ServiceError } from '#lib/errors.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { formatEnd, formatProgress } from '../admin/progress-line.ts'
import { formatJson, formatTable, formatTime, escapeControls } from '../admin/text-table.ts'
import { jobs as group } from '#lib/commands/jobs.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'

/** The parameters of a job. Throws `invalid` for an empty id, because its path would mean all jobs. */
const toJobParams = (id: string): { readonly id: string } => {
  if (id === '') throw new ServiceError('invalid', 'Name the job by its id; `vmhost jobs list` shows the ids.')
  return { id }
}

/** The parameters of the job's request, in their order. A flag appears by its name if it is true. */
const formatAbout = ({ about = {} }: Job): string =>
  Object.entries(about)
    .filter(([, value]) => value !== 'false')
    .map(([key, value]) => (value === 'true' ? key : value))
    .join(' ')

const toRow = (job: Job): readonly string[] => [
  job.id,
  `${job.job_type} ${job.job_operation}`,
  job.state,
  `${job.progress}%`.padStart(4),
  formatTime(job.created_at),
  job.owner_name,
  formatAbout(job),
  // The message says who cancelled the job; else the error is the reason.
  job.state === 'failed' ? (job.message ?? job.error ?? '') : '',
]

const formatStep = (step: NonNullable<Job['steps']>[number]): string => {
  if (step.state === 'running') return formatProgress(step)
  return step.state === 'pending' ? '' : formatEnd(step) || step.state
}

const formatJob = (job: Job): string => {
  const rows: readonly (readonly [string, string])[] = [
    ['what', `${job.job_type} ${job.job_operation}`],
    ['of', formatAbout(job)],
    ['by', job.owner_name],
    ['state', `${job.state}, ${job.progress}%`],
    ['message', job.message ?? ''],
    ['error', job.error ?? ''],
    ['started', formatTime(job.created_at)],
    ['changed', formatTime(job.updated_at)],
  ]
  const shownRows = rows.filter(([, value]) => value !== '').map(([name, value]) => [`  ${name}`, value])
  const steps = (job.steps ?? []).map(step => [`  ${step.display_name}`, formatStep(step)])
  return [escapeControls(job.id), formatTable(shownRows), ...(steps.length > 0 ? ['', formatTable(steps)] : [])].join(
    '\n',
  )
}

/** `vmhost jobs …` */
export const createJobsCommand = (context: CommandContext): Command => {
  const register = context.createRegister()
  const jobs = new Command('jobs')

  register(
    jobs.command('list').description('List the jobs, newest first').option('--json', 'as JSON'),
    async ({ client }, invocation) => {
      const all = await client.api.jobs.list()
      if (invocation.options['json']) return console.log(formatJson(all))
      const heads = ['JOB', 'WHAT', 'STATE', 'DONE', 'STARTED', 'BY', 'OF', 'ERROR']
      // In a pipe the lines stay whole, because a program may search them.
      console.log(
        all.length === 0 ? 'There are no jobs.' : formatTable([heads, ...all.map(toRow)], process.stdout.columns),
      )
    },
  )
  register(
    jobs
      .command('show')
      .description('Show the progress of a job, or how it ended')
      .argument('<job>', 'id of the job')
      .option('--json', 'as JSON'),
    async ({ client }, invocation) => {
      const [id = ''] = invocation.args
      const job = await client.api.jobs.show({ params: toJobParams(id) })
      console.log(invocation.options['json'] ? formatJson(job) : formatJob(job))
    },
  )
  register(
    jobs.command('cancel').description('Cancel a job').argument('<job>', 'id of the job'),
    async ({ client }, invocation) => {
      const [id = ''] = invocation.args
      const job = await client.api.jobs.cancel({ params: toJobParams(id) })
      console.log(
        `Cancelling the ${escapeControls(job.job_operation)}; \`vmhost jobs show ${escapeControls(job.id)}\` shows when it has ended.`,
      )
    },
  )
  return createGroupCommand(group, context, jobs)
}
