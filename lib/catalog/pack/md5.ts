import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Md5Job, Md5Result } from './md5-worker.ts'

/** The MD5 of what goes by. */
export interface Md5 extends AsyncDisposable {
  /** Takes a copy of a part; settles when there is room for another. */
  update(part: Uint8Array): Promise<void>
  /** In lower-case hex. */
  end(): Promise<string>
}

/** Bytes that may wait to be digested. */
const most = 8 * 1024 * 1024

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
  const digest = Promise.withResolvers<string>()
  digest.promise.catch(() => {})
  const post = (job: Md5Job): void => worker.postMessage(job)
  let waiting = 0
  let room: PromiseWithResolvers<void> | undefined
  let failure: ServiceError | undefined
  const fail = (cause: unknown): void => {
    failure ??= new ServiceError('internal', 'The thread that digests the pack ended too early.', { cause })
    digest.reject(failure)
    room?.reject(failure)
  }
  worker.on('message', (result: Md5Result) => {
    if (typeof result === 'string') return digest.resolve(result)
    waiting -= result
    if (waiting <= most) room?.resolve()
  })
  worker.once('error', fail)
  worker.once('exit', fail)

  return {
    async update(part) {
      if (failure) throw failure
      waiting += part.length
      post(part)
      if (waiting <= most) return
      room = Promise.withResolvers()
      await room.promise
    },
    end() {
      post('end')
      return digest.promise
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
