import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Qmp } from '../qmp.ts'

const Jobs = z.array(
  z.object({
    id: z.string(),
    status: z.string(),
    'current-progress': z.number(),
    'total-progress': z.number(),
    error: z.string().optional(),
  }),
)
type Job = z.infer<typeof Jobs>[number]

/** Milliseconds between two looks at the jobs. */
const pollInterval = 100
/** Milliseconds in which a cancelled job must end. */
const cancelTimeout = 10_000

const listJobs = async (qmp: Qmp, ids: readonly string[]): Promise<readonly Job[]> =>
  (await qmp.query('query-jobs', Jobs)).filter(({ id }) => ids.includes(id))

const assertNoError = ({ error }: Job): void => {
  if (error === undefined) return
  const reason = error.slice(0, 500)
  throw /no space left/i.test(reason)
    ? new ServiceError('no-space', `The disk of the host is full: ${reason}`)
    : new ServiceError('upstream', `QEMU did not copy a disk: ${reason}`)
}

/** Waits until the jobs of QEMU have ended. Throws `no-space` and `upstream` if one has failed, and the reason of the signal. */
export const waitForJobs = async (
  qmp: Qmp,
  ids: readonly string[],
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (fraction: number) => void },
): Promise<void> => {
  for (;;) {
    signal.throwIfAborted()
    const jobs = await listJobs(qmp, ids)
    if (jobs.length < ids.length) throw new ServiceError('upstream', 'QEMU has dropped the copy of a disk.')
    jobs.forEach(assertNoError)
    if (jobs.every(({ status }) => status === 'concluded')) return
    const sum = (member: 'current-progress' | 'total-progress') => jobs.reduce((sum, job) => sum + job[member], 0)
    onProgress(Math.min(1, sum('current-progress') / Math.max(1, sum('total-progress'))))
    await wait(pollInterval)
  }
}

/** Ends jobs, whatever they do, and removes them. */
export const endJobs = async (qmp: Qmp, ids: readonly string[]): Promise<void> => {
  for (const end = Date.now() + cancelTimeout; ;) {
    const jobs = await listJobs(qmp, ids)
    if (jobs.length === 0) return
    if (Date.now() > end) throw new ServiceError('upstream', 'QEMU goes on copying a disk after it was told to stop.')
    for (const { id, status } of jobs)
      await qmp.execute(status === 'concluded' ? 'job-dismiss' : 'job-cancel', { id }).catch(() => {})
    if (jobs.some(({ status }) => status !== 'concluded')) await wait(pollInterval)
  }
}
