import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { isFault } from '#lib/errors.ts'
import type { Store } from '#lib/storage/store.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'
import type { AskHost } from './host-client.ts'
import { unwrapReply } from './host-refusal.ts'
import { createFollowHostJob, maxJobBytes } from './job-of-host.ts'

const JobRequest = z.object({
  method: z.string(),
  path: z.string(),
  query: z.string().optional(),
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
})
/** A request that runs as a job on a host. */
export type JobRequest = z.infer<typeof JobRequest>

/** A job of a host while a job here, which has the same id as this record, waits for it. */
const HostJobRecord = z.object({ id: z.uuid(), host: z.uuid(), request: JobRequest })

/** The jobs that hosts run for jobs of this service. */
export interface HostJobs {
  /**
   * Runs a request as a job on a host, and gives its result. Its progress is that of the job here, and whoever cancels the job here
   * cancels that of the host. A job that goes on after a restart of this service follows the job that it has begun, on the same
   * host. Throws the refusal of the host, and `unavailable` when it does not answer for too long.
   */
  run(host: StoredHost, user: Principal, request: JobRequest, progress: ProgressReporter): Promise<unknown>
  /**
   * Does the same for a job that does not go on after a restart. The request is not stored, since nobody would remove it then: it may
   * have passwords.
   */
  runOnce(host: StoredHost, user: Principal, request: JobRequest, progress: ProgressReporter): Promise<unknown>
  /** The host on which a job here has begun a job. */
  findHost(job: string | undefined): StoredHost | undefined
}

interface Options {
  readonly store: Store
  readonly table: Pick<HostTable, 'get'>
  readonly ask: AskHost
}

/** Milliseconds that a host has to begin a job. */
const startTimeout = 30_000

const requireJobId = ({ id }: ProgressReporter): string => {
  if (id === undefined) throw new Error('A job of a host needs a job of this service that follows it.')
  return id
}

export const createHostJobs = ({ store, table, ask }: Options): HostJobs => {
  const records = store.collection('host-jobs', HostJobRecord)
  const followJob = createFollowHostJob({ ask, getHost: table.get })
  const findHost: HostJobs['findHost'] = job => {
    const record = job === undefined ? undefined : records.getSync(job)
    return record && table.get(record.host)
  }
  const runOn = async (
    host: StoredHost,
    user: Principal,
    { query, ...request }: JobRequest,
    progress: ProgressReporter,
  ): Promise<unknown> => {
    // The key makes a repeated request join the same job.
    const headers = { ...request.headers, Prefer: 'respond-async', 'Idempotency-Key': requireJobId(progress) }
    const reply = await ask(host, user, {
      ...request,
      ...(query !== undefined && { query: new URLSearchParams(query) }),
      headers,
      timeout: startTimeout,
      maxReplyBytes: maxJobBytes,
    })
    const started = unwrapReply(host, reply)
    return reply.status === 202 && reply.headers.has('location')
      ? followJob({ host, user, started, progress })
      : started
  }
  return {
    findHost,
    runOnce: runOn,
    async run(host, user, request, progress) {
      const id = requireJobId(progress)
      const begun = records.getSync(id)
      const record = begun ?? { id, host: host.id, request }
      if (!begun) await store.commit([records.put(record)])
      try {
        return await runOn(table.get(record.host) ?? host, user, record.request, progress)
      } finally {
        // After a shutdown of this service the job goes on, and so does that of the host.
        const { signal } = progress
        if (!signal?.aborted || !isFault(signal.reason, 'unavailable'))
          await store.commit([records.remove({ id })], { essential: true }).catch(() => undefined)
      }
    },
  }
}
