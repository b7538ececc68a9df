import { Worker, type Transferable } from 'node:worker_threads'

/** What a worker thread of the service can be. `lib/entry/worker.ts` maps each role to its module. */
export type Role = 'passwords' | 'embedded' | 'digest' | 'chunk-index'

/** Starts a thread that runs the same program in another role. `data` is cloned, but for what is in `transfer`. */
export type StartWorker = (role: Role, data?: object, transfer?: readonly Transferable[]) => Worker

/** Threads that start from `entry`, the program's own file: one file in development, one bundle when built. */
export const createStartWorker =
  (entry: URL): StartWorker =>
  (role, data = {}, transfer = []) =>
    new Worker(entry, { workerData: { role, data }, transferList: [...transfer] })
