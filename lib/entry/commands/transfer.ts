import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import type { JobKind } from '#lib/calls/accepted-job.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { followJob } from '../admin/follow-job.ts'
import { toJobError } from '../admin/job-failure.ts'
import { createProgress } from '../admin/job-progress.ts'
import type { ApiClient } from '../admin/admin-client.ts'
import { readRequest } from './read-request.ts'

/** The request of a push or pull, which runs as a job. */
interface Transfer {
  readonly kind: JobKind
  readonly schema: z.ZodType
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: object
  /** The option or argument of each field of the body, for messages. */
  readonly flags: Readonly<Record<string, string>>
}

/** Returns the running job of the same request, if there is one. Requests are the same if their jobs have the same `about`. */
const findRunningJob = async (
  callApi: ApiClient,
  { kind, schema, body, flags }: Transfer,
): Promise<Job | undefined> => {
  // The kind and the schema are those of one endpoint, which the type of a transfer does not say.
  const about = kind.summarize?.(readRequest(schema, body, flags) as never)
  const jobs = await callApi<Job[]>('GET', '/jobs', undefined, { 'X-Filter': 'state=^(pending|running)$' })
  return jobs.find(
    job => job.job_type === kind.type && job.job_operation === kind.operation && isDeepStrictEqual(job.about, about),
  )
}

/**
 * Starts a transfer, or joins the running one, and follows it to its end. Returns its job. Throws the error that it failed
 * with.
 */
export const runTransfer = async (callApi: ApiClient, transfer: Transfer): Promise<Job> => {
  const progress = createProgress(process.stderr)
  const { operation } = transfer.kind
  const running = await findRunningJob(callApi, transfer)
  const { id } = running ?? (await callApi<Job>(transfer.method, transfer.path, transfer.body))
  const firstLine = running ? `This ${operation} already runs as the job ${id}.` : `This ${operation} is the job ${id}.`
  const job = await followJob(callApi, { id, operation, isRepeatable: true, firstLine }, progress)
  if (job.state === 'failed') throw toJobError(job, `The ${operation} failed.`)
  return job
}
