import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Md5Job, Md5Result } from './md5-worker.ts'

/** The MD5 of what goes by. */
export interface Md5 extends AsyncDisposable {
  /** Settles when a part is digested; before that it must not change. */
  update(part: Uint8Array): Promise<void>
  /** In lower-case hex. */
  end(): Promise<string>
}

/** Digests at once: for what is small. */
export const createMd5 = (): Md5 => {
  const md5 = createHash('md5')
  return {
    async update(part) {
      md5.update(part)
    },
    end: async () => md5.digest('hex'),
    async [Symbol.asyncDispose]() {},
  }
}

/** Digests in a thread of its own: of the digests of a pack this one takes the longest, 1.5 s for each GiB. */
export const createMd5Thread = (startWorker: StartWorker): Md5 => {
  const worker = startWorker('md5')
  let waiting: PromiseWithResolvers<string> | undefined
  let failure: ServiceError | undefined
  const fail = (cause: unknown): void => {
    failure ??= new ServiceError('internal', 'The thread that digests the pack ended too early.', { cause })
    waiting?.reject(failure)
  }
  worker.on('message', (digest: Md5Result) => waiting?.resolve(digest))
  worker.once('error', fail)
  worker.once('exit', fail)
  const ask = (job: Md5Job): Promise<string> => {
    if (failure) throw failure
    waiting = Promise.withResolvers()
    worker.postMessage(job)
    return waiting.promise
  }

  return {
    async update(part) {
      await ask(part)
    },
    end: async () => ask('end'),
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
