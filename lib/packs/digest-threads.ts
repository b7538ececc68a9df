import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { keysOf } from '#lib/keys-of.ts'
import { digestGroups, type PackDigest } from './digest.ts'
import type { DigestJob, DigestResult, DigestWorkerData } from './digest-worker.ts'

/** Does what `createDigest` does in worker threads, so that the service can answer requests meanwhile. */
export interface DigestThreads extends AsyncDisposable {
  /**
   * Settles when the threads have digested a part. The caller must not change the part before that, but can pass the next
   * ones at once.
   */
  update(part: Uint8Array): Promise<void>
  end(): Promise<PackDigest>
}

/** Starts one thread, which answers its jobs in order. */
const createThread = (startWorker: StartWorker, data: DigestWorkerData) => {
  const worker = startWorker('digest', data)
  const pending: PromiseWithResolvers<DigestResult>[] = []
  let failure: ServiceError | undefined
  const fail = (cause: unknown): void => {
    failure ??= new ServiceError('internal', 'A thread that digests the pack ended too early.', { cause })
    for (const { reject } of pending.splice(0)) reject(failure)
  }
  worker.on('message', (result: DigestResult) => pending.shift()?.resolve(result))
  worker.once('error', fail)
  worker.once('exit', fail)

  return {
    async run(job: DigestJob): Promise<DigestResult> {
      if (failure) throw failure
      const result = Promise.withResolvers<DigestResult>()
      pending.push(result)
      worker.postMessage(job)
      return result.promise
    },
    terminate: () => worker.terminate(),
  }
}

/** Starts a thread for each group of digests. Both methods throw `internal` when a thread fails. */
export const createDigestThreads = (startWorker: StartWorker, rangeSize: number): DigestThreads => {
  const groups = keysOf(digestGroups)
  const threads = groups.map(group => createThread(startWorker, { group, rangeSize }))
  const runAll = (job: DigestJob): Promise<DigestResult[]> => Promise.all(threads.map(({ run }) => run(job)))

  return {
    async update(part) {
      await runAll(part)
    },
    async end() {
      // Each group gives its members of the digest, and all groups together give all.
      return Object.assign({}, ...(await runAll('end'))) as PackDigest
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map(({ terminate }) => terminate()))
    },
  }
}
