import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { type Half, halves, type PackDigest } from './digest.ts'
import type { DigestData, DigestJob, DigestResult } from './digest-worker.ts'

/** As `createDigest`, in threads of their own, so that the service goes on to answer meanwhile. */
export interface DigestThreads extends AsyncDisposable {
  /** Settles when a part is digested; before that it must not change. Others may follow it at once. */
  update(part: Uint8Array): Promise<void>
  end(): Promise<PackDigest>
}

/** One thread, which answers each job in its turn. */
const createThread = (startWorker: StartWorker, data: DigestData) => {
  const worker = startWorker('digest', data)
  const waiting: PromiseWithResolvers<DigestResult>[] = []
  let failure: ServiceError | undefined
  const fail = (cause: unknown): void => {
    failure ??= new ServiceError('internal', 'A thread that digests the pack ended too early.', { cause })
    for (const one of waiting.splice(0)) one.reject(failure)
  }
  worker.on('message', (result: DigestResult) => waiting.shift()?.resolve(result))
  worker.once('error', fail)
  worker.once('exit', fail)

  return {
    async ask(job: DigestJob): Promise<DigestResult> {
      if (failure) throw failure
      const answer = Promise.withResolvers<DigestResult>()
      waiting.push(answer)
      worker.postMessage(job)
      return answer.promise
    },
    terminate: () => worker.terminate(),
  }
}

/** Digests a pack in threads, one for each half. Both fail with `internal` when a thread does. */
export const createDigestThreads = (startWorker: StartWorker, pieceSize: number): DigestThreads => {
  const threads = (Object.keys(halves) as Half[]).map(half => createThread(startWorker, { half, pieceSize }))
  const all = (job: DigestJob): Promise<DigestResult[]> => Promise.all(threads.map(({ ask }) => ask(job)))

  return {
    async update(part) {
      await all(part)
    },
    async end() {
      return Object.assign({}, ...(await all('end'))) as PackDigest
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map(({ terminate }) => terminate()))
    },
  }
}
