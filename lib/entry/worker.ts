import type { MessagePort } from 'node:worker_threads'
import type { Role } from '#lib/platform/workers.ts'

/** What the module of each role exports. */
export interface WorkerModule {
  serve(port: MessagePort, data: object): void | Promise<void>
}

// Filled in by the areas that need a thread: `role: () => import('…')`, so that a thread loads only what it runs.
const modules: Partial<Record<Role, () => Promise<WorkerModule>>> = {
  embedded: () => import('#lib/hypervisor/embedded/worker.ts'),
  passwords: () => import('#lib/auth/password-worker.ts'),
}

/** Runs this thread in the role that `workersFrom` gave it. */
export const runWorker = async ({ role, data }: { role: Role; data: object }, port: MessagePort): Promise<void> => {
  const load = modules[role]
  if (!load) throw new Error(`no worker role is called ${role}`)
  await (await load()).serve(port, data)
}
