import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import type { JobKind } from '#lib/calls/accepted-job.ts'
import type { Job } from '#lib/client/api.gen.ts'
import type { Client } from '#lib/client/types.ts'
import { followJob } from '../admin/follow-job.ts'
import { toJobError } from '../admin/job-failure.ts'
import { createProgress } from '../admin/job-progress.ts'
import type { Service } from '../connect/service.ts'
import { readRequest } from './read-request.ts'

/** The request of a push or pull, which runs as a job. */
interface Transfer {
  readonly kind: JobKind
  readonly schema: z.ZodType
  /** Starts its job. */
  readonly start: (client: Client) => Promise<Job>
  readonly body: object
  /** The option or argument of each field of the body, for messages. */
  readonly flags: Readonly<Record<string, string>>
}

/** Returns the running job of the same request, if there is one. Requests are the same if their jobs have the same `about`. */
const findRunningJob = async ({ api }: Client, { kind, schema, body, flags }: Transfer): Promise<Job | undefined> => {
  // The kind and the schema are those of one endpoint, which the type of a transfer does not say.
  const about = kind.summarize?.(readRequest(schema, body, flags) as never)
  const jobs = await api.jobs.list({ filter: 'state=^(pending|running)$' })
  return jobs.find(
    job => job.job_type === kind.type && job.job_operation === kind.operation && isDeepStrictEqual(job.about, about),
  )
}

/**
 * Starts a transfer, or joins the running one, and follows it to its end. Returns its job. Throws the error that it failed
 * with.
 */
export const runTransfer = async ({ client }: Service, transfer: Transfer): Promise<Job> => {
  const progress = createProgress(process.stderr)
  const { operation } = transfer.kind
  const running = await findRunningJob(client, transfer)
  const { id } = running ?? (await transfer.start(client))
  const firstLine = running ? `This ${operation} already runs as the job ${id}.` : `This ${operation} is the job ${id}.`
  const job = await followJob(client, { id, operation, isRepeatable: true, firstLine }, progress)
  if (job.state === 'failed') throw toJobError(job, `The ${operation} failed.`)
  return job
}
