import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { PreparedMachine } from '../base-driver.ts'
import type { Definition, NewMachine } from '../definition.ts'
import { generateMac } from '../mac.ts'
import { readImageIdentity } from '../host-image.ts'
import { refuseHardware } from '../new-hardware.ts'
import { openRequestedFile, type HostFileOpener } from '../files/open-machine-file.ts'
import { demoGuest } from '../demo-guest.gen.ts'
import { createSparseDisk } from './disks/files.ts'
import { inspectKernel, requireKernel } from './inspect-kernel.ts'
import { checkDiskSize, checkHardware, inspectDisk } from './limits.ts'

/** Returns an id, by default a new one, and a new MAC address and creation time. */
export const createIdentity = (id: string = randomUUID()) => ({
  id,
  networks: [{ mac: generateMac() }],
  created_at: new Date().toISOString(),
})

export const getDiskFileName = (at: number): string => `disk${at}.img`

const prepareDisk = async (
  disk: NewMachine['disks'][number],
  at: number,
  hostFiles: HostFileOpener,
): Promise<Definition['disks'][number]> => {
  if ('path' in disk) {
    await using file = await openRequestedFile(hostFiles, `disks.${at}.path`, disk.path, 'write')
    return { path: file.path, size: await inspectDisk(file), format: 'raw', ...readImageIdentity(file) }
  }
  if ('image' in disk)
    throw new ServiceError(
      'unsupported',
      `disks.${at}.image: disks of registered images are unsupported by the embedded driver, which reads raw disks only.`,
    )
  const size = disk.size * 1024 * 1024
  checkDiskSize(size, `disk ${at}`)
  return { path: getDiskFileName(at), size, format: 'raw' }
}

const createOwnDisks = async ({ disks }: Definition, folder: string): Promise<void> => {
  for (const { path, size } of disks) if (!isAbsolute(path)) await createSparseDisk(join(folder, path), size)
}

/**
 * Prepares the machine of a request. Throws `unsupported` and `invalid` with the exceeded limit, `forbidden` for a file that
 * may not be used.
 */
export const prepareMachine = async (machine: NewMachine, hostFiles: HostFileOpener): Promise<PreparedMachine> => {
  checkHardware(machine)
  refuseHardware(machine, 'embedded', { machine_type: ['pc'], firmware: ['bios'], display: [false], bus: ['ide'] })
  const { cmdline } = machine
  await using kernel = await openRequestedFile(hostFiles, 'kernel', requireKernel(machine.kernel))
  await using initrd =
    machine.initrd === undefined ? undefined : await openRequestedFile(hostFiles, 'initrd', machine.initrd)
  await inspectKernel(kernel, machine, initrd)
  const disks = await Promise.all(machine.disks.map((disk, at) => prepareDisk(disk, at, hostFiles)))
  const { name, description, cpus, memory, owner, labels, ephemeral, expires_at, autostart, restart } = machine
  const lifecycle = { owner, labels, ephemeral, expires_at, autostart, restart }
  const boot = {
    kernel: kernel.path,
    ...(initrd && { initrd: initrd.path }),
    ...(cmdline !== undefined && { cmdline }),
  }
  const definition = { ...createIdentity(machine.id), name, description, cpus, memory, ...lifecycle, disks, ...boot }
  return { definition, seed: machine.seed, populate: folder => createOwnDisks(definition, folder) }
}

/** Prepares the demo machine of a fresh installation, whose kernel is in its folder. */
export const prepareDemo = (): PreparedMachine => {
  const definition = {
    ...createIdentity(),
    name: 'demo',
    description: 'A tiny guest that counts its boots and ticks on its serial line',
    cpus: 1,
    memory: 16,
    disks: [{ path: getDiskFileName(0), size: 1024 * 1024, format: 'raw' as const }],
    kernel: 'kernel.bin',
  }
  return {
    definition,
    async populate(folder) {
      await createOwnDisks(definition, folder)
      await writeFile(join(folder, definition.kernel), demoGuest, { mode: 0o600 })
    },
  }
}
