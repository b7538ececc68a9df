import type { MessagePort } from 'node:worker_threads'
import { type DigestGroup, digestGroups, type PackDigest } from './digest.ts'

/** A part of the pack, or `end`. */
export type DigestJob = Uint8Array | 'end'

/** `digested` after each part; after `end` the digests of the group. */
export type DigestResult = Partial<PackDigest> | 'digested'

export interface DigestWorkerData {
  readonly group: DigestGroup
  readonly rangeSize: number
}

/** Serves `digest-threads.ts` in a worker thread. */
export const serve = (port: MessagePort, data: object): void => {
  // `digest-threads.ts` starts the thread with it.
  const { group, rangeSize } = data as DigestWorkerData
  const digest = digestGroups[group](rangeSize)
  port.on('message', (job: DigestJob) => {
    if (job !== 'end') digest.update(job)
    port.postMessage((job === 'end' ? digest.end() : 'digested') satisfies DigestResult)
  })
}
