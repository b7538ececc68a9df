import type { Command } from 'commander'
import type { CollectedGarbage } from '#lib/catalog/garbage.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { byteSize } from '../byte-size.ts'
import { connectionHelp, readConnection } from '../connection.ts'
import { followJob } from '../follow-job.ts'
import { createProgress } from '../progress.ts'
import { noConnection, requireService } from './catalog-transfers.ts'
import type { Run } from './run.ts'

const operation = 'garbage'

const chunks = (count: number): string => `${count} ${count === 1 ? 'chunk' : 'chunks'}`

/** Adds what removes chunks that no pack uses any more. `usual` is the connection of who names none. */
export const addClean = (catalog: Command, run: Run, usual: string | undefined): void =>
  run(
    catalog
      .command('clean')
      .description('Count the chunks of a provider that no pack uses any more, or remove them')
      .option('--connection <connection>', `where the chunks are, ${connectionHelp}`)
      .option('--grace-hours <hours>', 'chunks that are younger stay', '24')
      .option('--remove', 'remove them'),
    async (ask, invocation) => {
      requireService(invocation)
      const { connection: option, graceHours, remove } = invocation.options as Record<string, string | undefined>
      const connection = (await readConnection(option)) ?? usual
      if (connection === undefined) throw noConnection()
      // What is no number the service refuses in its own words.
      const hours = /^\d+(\.\d+)?$/.test(graceHours!) ? Number(graceHours) : graceHours
      const body = { connection, dry_run: !remove, grace_hours: hours }
      const { id } = await ask<Job>('POST', '/catalog/garbage', body, { Prefer: 'respond-async' })
      const job = await followJob(ask, { id, operation }, createProgress(process.stderr))
      if (job.state === 'failed') throw new ServiceError('invalid', job.message ?? job.error ?? 'This failed.')
      const { kept, removed, bytes } = job.result as CollectedGarbage
      console.log(
        remove
          ? `Removed ${chunks(removed)} of ${byteSize(bytes)}; ${chunks(kept)} stay.`
          : `${chunks(removed)} of ${byteSize(bytes)} can be removed, with --remove; ${chunks(kept)} stay.`,
      )
    },
  )
