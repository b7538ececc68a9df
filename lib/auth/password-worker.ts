import { setPriority } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import { hashPassword, passwordMatches } from './password-hashes.ts'
import type { HashJob, HashResult } from './thread-hasher.ts'

/** Runs the jobs of `thread-hasher.ts` in a worker thread, one after the other. They may block, because nothing else runs there. */
export const serve = (port: MessagePort): void => {
  // Signing in may take a little longer, so that other requests do not. On Linux the priority is that of this thread alone.
  if (process.platform === 'linux') setPriority(19)
  port.on('message', (job: HashJob) => {
    const { id, password } = job
    const value = 'hash' in job ? passwordMatches(password, job.hash) : hashPassword(password, job.method)
    port.postMessage({ id, value } satisfies HashResult)
  })
}
