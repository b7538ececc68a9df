import { createHash } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'

/** A part to digest, or `end`. */
export type Md5Job = Uint8Array | 'end'

/** At the end the MD5 in lower-case hex; before, that a part is digested. */
export type Md5Result = string

/** The thread's side of `md5.ts`. */
export const serve = (port: MessagePort): void => {
  const md5 = createHash('md5')
  port.on('message', (job: Md5Job) => {
    if (job !== 'end') md5.update(job)
    port.postMessage((job === 'end' ? md5.digest('hex') : '') satisfies Md5Result)
  })
}
