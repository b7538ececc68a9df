import type { MessagePort } from 'node:worker_threads'
import { type Half, halves, type PackDigest } from './digest.ts'

/** A part to digest, or `end`. */
export type DigestJob = Uint8Array | 'end'

/** At the end what there is of the digest; before that, that a part is digested. */
export type DigestResult = Partial<PackDigest> | 'digested'

export interface DigestData {
  readonly half: Half
  readonly pieceSize: number
}

/** The thread's side of `digest-threads.ts`. */
export const serve = (port: MessagePort, data: object): void => {
  const { half, pieceSize } = data as DigestData
  const digest = halves[half](pieceSize)
  port.on('message', (job: DigestJob) => {
    if (job !== 'end') digest.update(job)
    port.postMessage((job === 'end' ? digest.end() : 'digested') satisfies DigestResult)
  })
}
