import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { createEmbeddedDriver, type EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { logOf } from '#lib/platform/log.ts'
import { workersFrom } from '#lib/platform/workers.ts'

const startWorker = workersFrom(new URL('../../lib/entry/main.ts', import.meta.url))

/** What the guest has said, over all its boots. */
export const serialOf = (view: MachineView): Promise<string> =>
  readFile(join(view.home, 'serial.log'), 'latin1').catch(() => '')

/** Waits until the guest has said more than `after` characters and something in the rest matches; gives all it said. */
export const heard = async (view: MachineView, mark: RegExp, after = 0): Promise<string> => {
  const end = Date.now() + 15_000
  for (;;) {
    const text = await serialOf(view)
    if (mark.test(text.slice(after))) return text
    if (Date.now() > end) throw new Error(`no ${mark} in ${JSON.stringify(text.slice(after))}`)
    await wait(10)
  }
}

/** Embedded drivers on one folder, with a hold on the threads of their machines. */
export const createEmbeddedBench = (folder: string) => {
  const threads = new Map<string, Worker>()
  let last: EmbeddedDriver
  return {
    driver: (): EmbeddedDriver => {
      last = createEmbeddedDriver({
        folder,
        log: logOf('hypervisor'),
        startWorker(role, data, transfer) {
          const thread = startWorker(role, data, transfer)
          if (data && 'id' in data) threads.set(String(data.id), thread)
          return thread
        },
      })
      return last
    },
    /** Makes the guest ignore requests to shut down from now on. */
    async ignoreRequests(view: MachineView): Promise<void> {
      const { length } = await serialOf(view)
      last.type(view.id, 'i')
      await heard(view, /i/, length)
    },
    async kill(id: string): Promise<void> {
      await threads.get(id)!.terminate()
    },
  }
}
