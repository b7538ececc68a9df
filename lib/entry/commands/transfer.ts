import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import type { JobKind } from '#lib/calls/accepted-job.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { followJob } from '../admin/follow-job.ts'
import { jobFailure } from '../admin/job-failure.ts'
import { createProgress } from '../admin/job-progress.ts'
import type { Ask } from '../admin/admin-client.ts'
import { readRequest } from './read-request.ts'

/** A request that brings a machine into a catalog or out of it, as a job. */
interface Transfer {
  readonly kind: JobKind
  readonly schema: z.ZodType
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: object
  /** Which option or argument a field of the body comes from. */
  readonly flags: Readonly<Record<string, string>>
}

/** The job under way that does the same already. The same is what jobs show as the same. */
const underWay = async (ask: Ask, { kind, schema, body, flags }: Transfer): Promise<Job | undefined> => {
  const wanted = kind.summarize?.(readRequest(schema, body, flags) as never)
  const jobs = await ask<Job[]>('GET', '/jobs', undefined, { 'X-Filter': 'state=^(pending|running)$' })
  return jobs.find(
    job => job.job_type === kind.type && job.job_operation === kind.operation && isDeepStrictEqual(job.about, wanted),
  )
}

/** Begins a transfer, or finds it under way, and follows it until it is complete. Throws what it failed with. */
export const transferred = async (ask: Ask, transfer: Transfer): Promise<Job> => {
  const progress = createProgress(process.stderr)
  const { operation } = transfer.kind
  const known = await underWay(ask, transfer)
  const { id } = known ?? (await ask<Job>(transfer.method, transfer.path, transfer.body))
  const opening = known
    ? `This ${operation} is under way already, as the job ${id}.`
    : `This ${operation} is the job ${id}.`
  const job = await followJob(ask, { id, operation, again: true, opening }, progress)
  if (job.state === 'failed') throw jobFailure(job, `The ${operation} failed.`)
  return job
}
