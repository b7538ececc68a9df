import { createHash } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'

/** A part to digest, or `end`. */
export type Md5Job = Uint8Array | 'end'

/** The bytes of a part that is digested, or, at the end, the MD5 in lower-case hex. */
export type Md5Result = number | string

/** The thread's side of `md5.ts`. */
export const serve = (port: MessagePort): void => {
  const md5 = createHash('md5')
  port.on('message', (job: Md5Job) => {
    if (job !== 'end') md5.update(job)
    port.postMessage((job === 'end' ? md5.digest('hex') : job.length) satisfies Md5Result)
  })
}
