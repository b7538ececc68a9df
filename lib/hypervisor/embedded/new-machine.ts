import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { Definition, NewMachine } from '../definition.ts'
import type { MachineView } from '../driver.ts'
import { randomMac } from '../mac.ts'
import { buildGuest } from '../guest/guest.ts'
import { copyShared, makeDisk } from './disk-files.ts'
import { checkDiskSize, checkHardware, inspectDisk, inspectFile, inspectKernel, requireKernel } from './limits.ts'

/** A machine that does not exist yet: its definition, and what puts its files into its folder. */
export interface Draft {
  readonly definition: Definition
  fill(folder: string): Promise<void>
}

/** An id, a MAC address (of the range that emulators use) and a date of its own. */
const identity = () => ({
  id: randomUUID(),
  networks: [{ mac: randomMac() }],
  created_at: new Date().toISOString(),
})

const ownDisk = (at: number): string => `disk${at}.img`

const draftDisk = async (disk: NewMachine['disks'][number], at: number): Promise<Definition['disks'][number]> => {
  if ('path' in disk) {
    requireAbsolute(disk.path, 'disk')
    return { path: disk.path, size: await inspectDisk(disk.path), format: 'raw' }
  }
  const size = disk.size * 1024 * 1024
  checkDiskSize(size, `disk ${at}`)
  return { path: ownDisk(at), size, format: 'raw' }
}

const requireAbsolute = (path: string, what: string): void => {
  if (!isAbsolute(path)) throw new ServiceError('invalid', `The ${what} ${path} is not an absolute path.`)
}

const makeOwnDisks = async ({ disks }: Definition, folder: string): Promise<void> => {
  for (const { path, size } of disks) if (!isAbsolute(path)) await makeDisk(join(folder, path), size)
}

/** Throws `unsupported` and `invalid` with the limit that stands in the way. */
export const draftMachine = async (machine: NewMachine): Promise<Draft> => {
  checkHardware(machine)
  const { initrd, cmdline } = machine
  const kernel = requireKernel(machine.kernel)
  requireAbsolute(kernel, 'kernel')
  await inspectKernel(kernel)
  if (initrd !== undefined) {
    requireAbsolute(initrd, 'initrd')
    await inspectFile(initrd)
  }
  const disks = await Promise.all(machine.disks.map(draftDisk))
  const { name, description, cpus, memory } = machine
  const boot = { kernel, ...(initrd !== undefined && { initrd }), ...(cmdline !== undefined && { cmdline }) }
  const definition = { ...identity(), name, description, cpus, memory, disks, ...boot }
  return { definition, fill: folder => makeOwnDisks(definition, folder) }
}

/** The machine that a fresh installation shows: it brings its kernel along. */
export const draftDemo = (): Draft => {
  const definition = {
    ...identity(),
    name: 'demo',
    description: 'A tiny guest that counts its boots and ticks on its serial line',
    cpus: 1,
    memory: 16,
    disks: [{ path: ownDisk(0), size: 1024 * 1024, format: 'raw' as const }],
    kernel: 'kernel.bin',
  }
  return {
    definition,
    async fill(folder) {
      await makeOwnDisks(definition, folder)
      await writeFile(join(folder, definition.kernel), buildGuest(), { mode: 0o600 })
    },
  }
}

/** A full copy of a machine; disks that it uses in place become the clone's own. Its files are read in `fill`. */
export const draftClone = (
  { home, definition: source }: MachineView,
  name: string,
  progress: (part: number) => void,
): Draft => {
  const disks = source.disks.map((disk, at) => ({ ...disk, path: ownDisk(at) }))
  const definition = { ...source, ...identity(), name, disks }
  return {
    definition,
    async fill(folder) {
      for (const [at, disk] of source.disks.entries()) {
        await copyShared(resolve(home, disk.path), join(folder, ownDisk(at)))
        progress((at + 1) / source.disks.length)
      }
      for (const file of [source.kernel, source.initrd])
        if (file !== undefined && !isAbsolute(file)) await copyShared(join(home, file), join(folder, file))
    },
  }
}
