import type { MessagePort } from 'node:worker_threads'
import bcrypt from 'bcryptjs'
import type { HashJob, HashResult } from './passwords.ts'

/** The thread's side of `passwords.ts`: one job after the other, the blocking way, because nothing else runs here. */
export const serve = (port: MessagePort): void => {
  port.on('message', ({ id, password, hash, cost }: HashJob) => {
    const value = hash === undefined ? bcrypt.hashSync(password, cost) : bcrypt.compareSync(password, hash)
    port.postMessage({ id, value } satisfies HashResult)
  })
}
