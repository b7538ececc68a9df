import type { Worker } from 'node:worker_threads'
import { ServiceError } from '#lib/errors.ts'
import { type HashMethod, detectHashMethod, createDummyHash, defaultCost } from './hash-methods.ts'
import type { StartWorker } from '#lib/platform/workers.ts'

export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether the password has this hash. Without a hash the answer is false and takes as long. */
  verify(password: string, hash: string | undefined): Promise<boolean>
  /** Whether a hash was made with another method or cost than the configured one. */
  isOutdated(hash: string): boolean
  /** The number of jobs that are waiting or running. */
  pending(): number
  close(): Promise<void>
}

/** A job for the thread: to compare the password with a hash, or to hash it when there is none. */
export interface HashJob {
  readonly id: number
  readonly password: string
  readonly hash: string | undefined
  readonly method: HashMethod
}

export interface HashResult {
  readonly id: number
  readonly value: string | boolean
}

interface Options {
  readonly startWorker: StartWorker
  /** How new passwords are hashed; bcrypt at its default cost when left out. */
  readonly method?: HashMethod
  /** The most jobs that may wait. More are refused with `unavailable`. */
  readonly maxQueued?: number
}

/** Hashes passwords in a worker thread, because a hash takes a third of a second. The thread starts at first use. */
export const createPasswords = ({
  startWorker,
  method = { kind: 'bcrypt', cost: defaultCost.bcrypt },
  maxQueued = 64,
}: Options): Passwords => {
  const dummyHash = createDummyHash(method)
  const pending = new Map<number, PromiseWithResolvers<string | boolean>>()
  let worker: Worker | undefined
  let lastId = 0

  const rejectAll = (): void => {
    worker = undefined
    for (const { reject } of pending.values()) reject(new ServiceError('unavailable', 'Signing in failed; try again.'))
    pending.clear()
  }
  const startThread = (): Worker => {
    const started = startWorker('passwords')
    started.on('message', ({ id, value }: HashResult) => {
      pending.get(id)?.resolve(value)
      pending.delete(id)
      // An idle thread must not keep the process alive.
      if (pending.size === 0) started.unref()
    })
    started.once('error', rejectAll)
    started.once('exit', rejectAll)
    return started
  }
  const enqueue = (password: string, hash: string | undefined): Promise<string | boolean> => {
    if (pending.size >= maxQueued)
      throw new ServiceError(
        'unavailable',
        'Too many people are signing in at this moment; try again in some seconds.',
        {
          headers: { 'Retry-After': '5' },
        },
      )
    worker ??= startThread()
    worker.ref()
    const id = (lastId += 1)
    const deferred = Promise.withResolvers<string | boolean>()
    pending.set(id, deferred)
    worker.postMessage({ id, password, hash, method } satisfies HashJob)
    return deferred.promise
  }

  return {
    hash: async password => String(await enqueue(password, undefined)),
    async verify(password, hash) {
      return (await enqueue(password, hash ?? dummyHash)) === true && hash !== undefined
    },
    isOutdated(hash) {
      const { kind, cost } = detectHashMethod(hash)
      return kind !== method.kind || cost !== method.cost
    },
    pending: () => pending.size,
    async close() {
      await worker?.terminate()
    },
  }
}
