import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import type { HostFacts } from '#lib/platform/host-facts.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { Config } from './config.ts'
import { getAttachFolder } from './host-files.ts'
import type { State } from './state.ts'

interface Parts extends Pick<State, 'store' | 'events'> {
  readonly driver: HypervisorDriver
  readonly facts: HostFacts
}

/** Opens the machines of this host, and logs what fails in the background. */
export const openHostMachines = (config: Config, { driver, facts, store, events }: Parts): Promise<Machines> =>
  openMachines({
    driver,
    host: { ...facts, url: config.listen.origin },
    stopTimeout: config.stop_timeout * 1000,
    store,
    publish: events.publish,
    onPublishFailed: error =>
      getAreaLogger('events').error('An event was lost: {reason}', { reason: messageOf(error) }),
    onResumeFailed: error =>
      getAreaLogger('machines').error('A machine that was suspended for a push could not be resumed: {reason}', {
        reason: messageOf(error),
      }),
  })

/** Creates the demo machine, and the file of its kernel for the first machine that a user creates. */
export const createDemo = async (config: Config, machines: Machines, kernel: Uint8Array): Promise<void> => {
  await machines.createDemo()
  // QEMU may run as another user, who must be able to read the file.
  await writeFile(join(getAttachFolder(config), 'demo-kernel.bin'), kernel, { mode: 0o644 })
}
