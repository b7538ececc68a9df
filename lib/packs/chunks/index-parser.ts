import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import type { IndexedFile } from './chunk-index.ts'
import { expandedFile } from './compact-index.ts'
import { type IndexJob, type IndexResult, resultOf } from './index-worker.ts'

/** Reads the text of chunk indexes, long ones in a thread of their own: the largest take seconds. Both throw `upstream`. */
export interface IndexParser {
  files(bytes: Uint8Array<ArrayBuffer>): Promise<readonly IndexedFile[]>
  /** As `digestsIn` gives them. */
  digests(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>
}

/** Bytes of a text that are read before a thread has begun. */
const short = 256 * 1024

/** Threads at once: each takes some hundred MB for the largest index. */
const threads = 2

const inThread = async (startWorker: StartWorker, job: IndexJob): Promise<IndexResult> => {
  // It is given away, not copied.
  const worker = startWorker('chunk-index', job, [job.bytes.buffer])
  const { promise, resolve, reject } = Promise.withResolvers<IndexResult>()
  const fail = (cause: unknown): void =>
    reject(new ServiceError('internal', 'The thread that reads a chunk index ended too early.', { cause }))
  worker.once('message', resolve)
  worker.once('error', fail)
  worker.once('exit', fail)
  try {
    return await promise
  } finally {
    await worker.terminate()
  }
}

export const createIndexParser = (startWorker: StartWorker): IndexParser => {
  const atOnce = createKeyedLimiter(threads)
  const parse = async (job: IndexJob): Promise<Exclude<IndexResult, { broken: string }>> => {
    const result = job.bytes.length > short ? await atOnce.run('', () => inThread(startWorker, job)) : resultOf(job)
    if ('broken' in result) throw new ServiceError('upstream', result.broken)
    return result
  }
  return {
    async files(bytes) {
      const result = await parse({ bytes, wanted: 'files' })
      return 'files' in result ? result.files.map(expandedFile) : []
    },
    async digests(bytes) {
      const result = await parse({ bytes, wanted: 'digests' })
      return 'digests' in result ? result.digests : new Uint8Array()
    },
  }
}
