import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import type { IndexedFile } from './chunk-index.ts'
import { expandFile } from './compact-index.ts'
import { type IndexJob, type IndexResult, parseIndex } from './index-worker.ts'

/**
 * Parses chunk indexes. It parses a long one in a thread, because the largest take seconds. Both methods throw `upstream`
 * for a damaged index.
 */
export interface IndexParser {
  parseFiles(bytes: Uint8Array<ArrayBuffer>): Promise<readonly IndexedFile[]>
  /** Returns the digests as `collectDigests` does. */
  parseDigests(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>
}

/** Bytes of an index that this thread parses in less time than a new thread needs to start. */
const maxInlineSize = 256 * 1024

/** Threads that run at the same time. Each takes some hundred MB for the largest index. */
const maxThreads = 2

const parseInThread = async (startWorker: StartWorker, job: IndexJob): Promise<IndexResult> => {
  // The bytes are transferred to the thread, not copied.
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

/** @param startWorker starts the threads; without it this thread parses every index, because the program has no others */
export const createIndexParser = (startWorker: StartWorker | undefined): IndexParser => {
  const limiter = createKeyedLimiter(maxThreads)
  const parse = async (job: IndexJob): Promise<Exclude<IndexResult, { failure: string }>> => {
    const result =
      startWorker && job.bytes.length > maxInlineSize
        ? await limiter.run('', () => parseInThread(startWorker, job))
        : parseIndex(job)
    if ('failure' in result) throw new ServiceError('upstream', result.failure)
    return result
  }
  return {
    async parseFiles(bytes) {
      const result = await parse({ bytes, output: 'files' })
      return 'files' in result ? result.files.map(expandFile) : []
    },
    async parseDigests(bytes) {
      const result = await parse({ bytes, output: 'digests' })
      return 'digests' in result ? result.digests : new Uint8Array()
    },
  }
}
