import { statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { every } from '#lib/async/every.ts'
import { messageOf } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { ImageStorage } from '#lib/images/context.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import type { HostFacts } from '#lib/platform/host-facts.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { type Config, getPublicUrl } from './config.ts'
import { getAttachFolder } from './host-files.ts'
import type { State } from './state.ts'

interface Parts extends Pick<State, 'store' | 'events'> {
  readonly driver: HypervisorDriver
  readonly facts: HostFacts
  readonly images: Pick<ImageStorage, 'leases'>
}

/** Returns the size in MB of the file system with a folder. It is read each time, because a file system can grow. */
const readDiskSize = async (folder: string): Promise<number> => {
  const { blocks, bsize } = await statfs(folder)
  return Math.floor((blocks * bsize) / (1 << 20))
}

/** Opens the machines of this host, and logs what fails in the background. */
export const openHostMachines = (config: Config, { driver, facts, images, store, events }: Parts): Promise<Machines> =>
  openMachines({
    driver,
    host: { ...facts, url: getPublicUrl(config), readDiskSize: () => readDiskSize(config.state) },
    forwardAddresses: config.forward_addresses,
    leaseImage: images.leases.take,
    stopTimeout: config.stop_timeout * 1000,
    snapshotQuota: {
      count: config.snapshot_max_count,
      bytes: config.snapshot_max_size === 0 ? undefined : config.snapshot_max_size * 2 ** 20,
    },
    store,
    events,
    onPublishFailed: error =>
      getAreaLogger('events').error('An event was lost: {reason}', { reason: messageOf(error) }),
    every,
    onAutomationFailed: (what, name, error) =>
      getAreaLogger('machines').error('The automatic {what} of {name} has failed: {reason}', {
        what,
        name,
        reason: messageOf(error),
      }),
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
