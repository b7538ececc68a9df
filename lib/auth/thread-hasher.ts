import type { Worker } from 'node:worker_threads'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { HashMethod } from './hash-methods.ts'
import type { PasswordHasher } from './passwords.ts'

/** A job for the thread: to compare the password with a hash, or to hash it. */
export type HashJob = { readonly id: number; readonly password: string } & (
  | { readonly hash: string }
  | { readonly method: HashMethod }
)

export interface HashResult {
  readonly id: number
  readonly value: string | boolean
}

/** Hashes passwords in a worker thread. The thread starts at first use, and again after it has ended. */
export const createThreadHasher = (startWorker: StartWorker): PasswordHasher & AsyncDisposable => {
  const pending = new Map<number, PromiseWithResolvers<string | boolean>>()
  let worker: Worker | undefined
  let lastId = 0

  const rejectAll = (): void => {
    worker = undefined
    for (const { reject } of pending.values()) reject(new Error('the thread of the passwords has ended'))
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
  const run = (job: { readonly password: string } & ({ hash: string } | { method: HashMethod })) => {
    worker ??= startThread()
    worker.ref()
    const id = (lastId += 1)
    const deferred = Promise.withResolvers<string | boolean>()
    pending.set(id, deferred)
    worker.postMessage({ id, ...job } satisfies HashJob)
    return deferred.promise
  }

  return {
    hash: async (password, method) => String(await run({ password, method })),
    matches: async (password, hash) => (await run({ password, hash })) === true,
    async [Symbol.asyncDispose]() {
      await worker?.terminate()
    },
  }
}
