import type { Command } from 'commander'
import { type CollectedGarbage, CollectGarbage } from '#lib/catalog/chunk-garbage.ts'
import { formatByteSize } from '#lib/byte-size.ts'
import { connectionHelp } from '../admin/read-connection.ts'
import { followJob } from '../admin/follow-job.ts'
import { toJobError } from '../admin/job-failure.ts'
import { createProgress } from '../admin/job-progress.ts'
import { requireConnection } from './transfer-options.ts'
import { readRequest } from './read-request.ts'
import type { RegisterCommand, TextOptions } from './invocation.ts'

const operation = 'garbage'

const formatChunks = (count: number): string => `${count} ${count === 1 ? 'chunk' : 'chunks'}`

/** Adds the command clean. `defaultConnection` is the connection if the options name none. */
export const addCleanCommand = (
  catalog: Command,
  register: RegisterCommand,
  defaultConnection: string | undefined,
): void =>
  register<TextOptions>(
    catalog
      .command('clean')
      .description('Collect garbage: count the chunks of a provider that no pack uses, or remove them')
      .option('--connection <connection>', `provider of the chunks, ${connectionHelp}`)
      .option('--grace-hours <hours>', 'keep chunks younger than this', '24')
      .option('--remove', 'remove the chunks; without it the command only counts them'),
    async ({ client }, invocation) => {
      const { connection: option, graceHours, remove } = invocation.options
      const connection = await requireConnection(option, defaultConnection)
      const hours = Number(graceHours?.trim() || undefined)
      const body = { connection, dry_run: !remove, grace_hours: hours }
      readRequest(CollectGarbage, body, { connection: '--connection', grace_hours: '--grace-hours' })
      const { id } = await client.api.catalog.garbage({ body, async: true })
      const job = await followJob(client, { id, operation, isRepeatable: false }, createProgress(process.stderr))
      if (job.state === 'failed') throw toJobError(job, 'The clean-up failed.')
      // The reply of the endpoint that the job ran.
      const { kept, young, removed, bytes } = job.result as CollectedGarbage
      const age = hours === 1 ? '1 hour' : `${hours} hours`
      const youngText = young === 0 ? '' : `, ${young} of them only for being younger than ${age}`
      const amount = `${formatChunks(removed)} of ${formatByteSize(bytes)}`
      console.log(
        `${remove ? `Removed ${amount}` : `${amount} can be removed, with --remove`}; ${formatChunks(kept)} ${kept === 1 ? 'stays' : 'stay'}${youngText}.`,
      )
    },
  )
