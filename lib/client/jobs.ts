import type { Api, Job } from './api.gen.ts'
import { VmhostError } from './error.ts'
import { backOff, pause, throwUnlessPassing } from './retry.ts'
import type { FollowOptions } from './types.ts'

const [shortestPause, longestPause] = [100, 2_000]

/** Asks for a job until it has ended, with longer pauses as it lasts. Throws a VmhostError when it failed. */
export const followJob = async (
  { jobs }: Pick<Api, 'jobs'>,
  id: string,
  { signal, onChange }: FollowOptions = {},
): Promise<Job> => {
  let seen: string | undefined
  let failures = 0
  for (let milliseconds = shortestPause; ; milliseconds = Math.min(milliseconds * 1.5, longestPause)) {
    let job: Job | undefined
    try {
      job = await jobs.show({ params: { id }, signal })
      failures = 0
    } catch (error) {
      throwUnlessPassing(error, signal)
      await pause(backOff(failures++), signal)
      continue
    }
    if (job.updated_at !== seen) onChange?.(job)
    seen = job.updated_at
    if (job.state === 'completed') return job
    if (job.state === 'failed') throw new VmhostError(job.code ?? 500, { message: job.error, job })
    await pause(milliseconds, signal)
  }
}
