import { setPriority } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import { hashPassword, passwordMatches } from './password-hashes.ts'
import type { HashJob, HashResult } from './passwords.ts'

/** The thread's side of `passwords.ts`: one job after the other, the blocking way, because nothing else runs here. */
export const serve = (port: MessagePort): void => {
  // Whoever signs in waits gladly a moment more than everybody else. On Linux this is about this thread alone.
  if (process.platform === 'linux') setPriority(19)
  port.on('message', ({ id, password, hash, method }: HashJob) => {
    const value = hash === undefined ? hashPassword(password, method) : passwordMatches(password, hash)
    port.postMessage({ id, value } satisfies HashResult)
  })
}
