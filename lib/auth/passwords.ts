import type { Worker } from 'node:worker_threads'
import { ServiceError } from '#lib/errors.ts'
import { type HashMethod, methodOf, nobodysHash, usualCost } from './hash-methods.ts'
import type { StartWorker } from '#lib/platform/workers.ts'

export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether the password has this hash; without a hash takes as long and is false. */
  verify(password: string, hash: string | undefined): Promise<boolean>
  /** Whether a hash was made by another method or at another cost than new ones are. */
  isOutdated(hash: string): boolean
  /** Passwords that wait to be hashed. */
  waiting(): number
  close(): Promise<void>
}

/** What the thread is asked: with a hash to compare, without one to make it. */
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
  /** How new passwords are hashed; bcrypt at its usual cost when left out. */
  readonly method?: HashMethod
  /** Jobs that may wait; more are turned away. */
  readonly queue?: number
}

/** Hashes passwords in a thread of its own, started at first use: a hash takes a third of a second. */
export const createPasswords = ({
  startWorker,
  method = { kind: 'bcrypt', cost: usualCost.bcrypt },
  queue = 64,
}: Options): Passwords => {
  const nobody = nobodysHash(method)
  const waiting = new Map<number, PromiseWithResolvers<string | boolean>>()
  let worker: Worker | undefined
  let last = 0

  const failAll = (): void => {
    worker = undefined
    for (const { reject } of waiting.values()) reject(new ServiceError('unavailable', 'Signing in failed; try again.'))
    waiting.clear()
  }
  const start = (): Worker => {
    const started = startWorker('passwords')
    started.on('message', ({ id, value }: HashResult) => {
      waiting.get(id)?.resolve(value)
      waiting.delete(id)
      // Only a thread that is at work keeps the program alive.
      if (waiting.size === 0) started.unref()
    })
    started.once('error', failAll)
    started.once('exit', failAll)
    return started
  }
  const ask = (password: string, hash: string | undefined): Promise<string | boolean> => {
    if (waiting.size >= queue)
      throw new ServiceError(
        'unavailable',
        'Too many people are signing in at this moment; try again in some seconds.',
        {
          headers: { 'Retry-After': '5' },
        },
      )
    worker ??= start()
    worker.ref()
    const id = (last += 1)
    const pending = Promise.withResolvers<string | boolean>()
    waiting.set(id, pending)
    worker.postMessage({ id, password, hash, method } satisfies HashJob)
    return pending.promise
  }

  return {
    hash: async password => String(await ask(password, undefined)),
    async verify(password, hash) {
      return (await ask(password, hash ?? nobody)) === true && hash !== undefined
    },
    isOutdated(hash) {
      const { kind, cost } = methodOf(hash)
      return kind !== method.kind || cost !== method.cost
    },
    waiting: () => waiting.size,
    async close() {
      await worker?.terminate()
    },
  }
}
