import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { createEmbeddedDriver, type EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { anyFile } from '../host-files.ts'
import { embeddedParts } from '../program-parts.ts'
import { until } from '../waiting.ts'

/** Returns the serial output of the guest over all its boots. */
export const readSerialLog = (view: MachineView): Promise<string> =>
  readFile(join(view.home, 'serial.log'), 'latin1').catch(() => '')

/** Waits until the output after the first `after` characters matches `pattern`. Returns the whole output. */
export const waitForOutput = (view: MachineView, pattern: RegExp, after = 0): Promise<string> =>
  until(async () => {
    const text = await readSerialLog(view)
    if (!pattern.test(text.slice(after))) throw new Error(`no ${pattern} in ${JSON.stringify(text.slice(after))}`)
    return text
  })

/** Creates embedded drivers on one folder and gives access to the threads of their machines. */
export const createEmbeddedBench = (folder: string, hostFiles: HostFiles = anyFile) => {
  const threads = new Map<string, Worker>()
  let last: EmbeddedDriver
  return {
    driver: (): EmbeddedDriver => {
      last = createEmbeddedDriver({
        folder,
        serialLogSize: 1 << 20,
        hostFiles,
        log: getAreaLogger('hypervisor'),
        readProgram: embeddedParts.readProgram,
        startWorker(role, data, transfer) {
          const thread = embeddedParts.startWorker(role, data, transfer)
          if (data && 'id' in data) threads.set(String(data.id), thread)
          return thread
        },
      })
      return last
    },
    /** Makes the guest ignore requests to shut down from now on. */
    async ignoreShutdownRequests(view: MachineView): Promise<void> {
      const { length } = await readSerialLog(view)
      ;(await last.openSerial(view.id)).write(Buffer.from('i'))
      await waitForOutput(view, /i/, length)
    },
    async kill(id: string): Promise<void> {
      await threads.get(id)!.terminate()
    },
  }
}
