import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { copyOpenFile } from '#lib/platform/open-file.ts'
import type { PreparedMachine } from '../base-driver.ts'
import type { Definition, NewMachine } from '../definition.ts'
import type { MachineView } from '../driver.ts'
import { generateMac } from '../mac.ts'
import { readImageIdentity } from '../host-image.ts'
import { openRequestedFile, openMachineFile, type HostFileOpener } from '../files/open-machine-file.ts'
import { demoGuest } from '../demo-guest.gen.ts'
import { copyWithReflink, createSparseDisk } from './disk-files.ts'
import { openMachineDisk } from './launch.ts'
import { checkDiskSize, checkHardware, inspectDisk, inspectKernel, requireKernel } from './limits.ts'

/** Returns a new id, MAC address and creation time. */
const createIdentity = () => ({
  id: randomUUID(),
  networks: [{ mac: generateMac() }],
  created_at: new Date().toISOString(),
})

const getDiskFileName = (at: number): string => `disk${at}.img`

const prepareDisk = async (
  disk: NewMachine['disks'][number],
  at: number,
  hostFiles: HostFileOpener,
): Promise<Definition['disks'][number]> => {
  if ('path' in disk) {
    await using file = await openRequestedFile(hostFiles, `disks.${at}.path`, disk.path, 'write')
    return { path: file.path, size: await inspectDisk(file), format: 'raw', ...readImageIdentity(file) }
  }
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
  const { cmdline } = machine
  await using kernel = await openRequestedFile(hostFiles, 'kernel', requireKernel(machine.kernel))
  await inspectKernel(kernel)
  await using initrd =
    machine.initrd === undefined ? undefined : await openRequestedFile(hostFiles, 'initrd', machine.initrd)
  const disks = await Promise.all(machine.disks.map((disk, at) => prepareDisk(disk, at, hostFiles)))
  const { name, description, cpus, memory } = machine
  const boot = {
    kernel: kernel.path,
    ...(initrd && { initrd: initrd.path }),
    ...(cmdline !== undefined && { cmdline }),
  }
  const definition = { ...createIdentity(), name, description, cpus, memory, disks, ...boot }
  return { definition, populate: folder => createOwnDisks(definition, folder) }
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

interface CloneOptions {
  readonly hostFiles: HostFileOpener
  readonly deadline: AbortSignal
  readonly onProgress: (fraction: number) => void
}

/**
 * Prepares a full clone of a machine. The clone gets copies of disks that the machine uses in place. `populate` validates and
 * copies the files, and throws as `openMachineDisk` does.
 */
export const prepareClone = (
  view: MachineView,
  clone: { readonly id: string; readonly name: string },
  { hostFiles, deadline, onProgress }: CloneOptions,
): PreparedMachine => {
  const { definition: source } = view
  const disks = source.disks.map(({ size, format }, at) => ({ path: getDiskFileName(at), size, format }))
  const definition = { ...source, ...createIdentity(), ...clone, disks }
  return {
    definition,
    async populate(folder) {
      await using disk = await openMachineDisk(view, hostFiles, 'read')
      // A host image may have changed its size, so it is copied as it is open. A disk in the folder shares its blocks with
      // the copy.
      if (disk && isAbsolute(source.disks[0]!.path))
        await copyOpenFile(disk, join(folder, getDiskFileName(0)), deadline)
      else if (disk) await copyWithReflink(disk.path, join(folder, getDiskFileName(0)))
      onProgress(1)
      for (const path of [source.kernel, source.initrd])
        if (path !== undefined) {
          await using file = await openMachineFile(hostFiles, view, path)
          if (!isAbsolute(path)) await copyWithReflink(file.path, join(folder, path))
        }
    },
  }
}
