import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { JobKind } from '#lib/http/job-started.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { followJob } from '../follow-job.ts'
import { createProgress } from '../progress.ts'
import type { Ask } from '../reach.ts'
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
  const wanted = kind.about?.(readRequest(schema, body, flags) as never)
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
  progress.say(
    known ? `This ${operation} is under way already, as the job ${id}.` : `This ${operation} is the job ${id}.`,
  )
  const job = await followJob(ask, { id, operation, again: true }, progress)
  // Who cancelled it says more than what that broke off.
  if (job.state === 'failed') throw new ServiceError('invalid', job.message ?? job.error ?? `The ${operation} failed.`)
  return job
}
