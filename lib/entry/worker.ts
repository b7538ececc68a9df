import type { MessagePort } from 'node:worker_threads'
import type { Role } from '#lib/platform/workers.ts'

/** What the module of each role exports. */
export interface WorkerModule {
  serve(port: MessagePort, data: object): void | Promise<void>
}

// Loaded on demand, so that a thread loads only what it runs.
const modules: Record<Role, () => Promise<WorkerModule>> = {
  passwords: () => import('#lib/auth/password-worker.ts'),
  embedded: () => import('#lib/hypervisor/embedded/worker.ts'),
  digest: () => import('#lib/packs/digest-worker.ts'),
  'chunk-index': () => import('#lib/packs/chunks/index-worker.ts'),
}

/** Runs this thread in the role that `createStartWorker` gave it. */
export const runWorker = async ({ role, data }: { role: Role; data: object }, port: MessagePort): Promise<void> => {
  await (await modules[role]()).serve(port, data)
}
