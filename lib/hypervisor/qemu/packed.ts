import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { bounds, type Definition } from '../definition.ts'
import type { ExportedMachine, HypervisorDriver, MachineView } from '../driver.ts'
import { copyAttached, lendFiles } from '../exporting.ts'
import { copyDisk } from './disks.ts'
import type { Images } from './images.ts'
import { inspectQcow2 } from './qcow2.ts'

type Disk = Definition['disks'][number]

/** Lends the files of a machine that does not run. Attached disks, and those that build on others, are copied to qcow2. */
export const exportFiles = async (
  { home, definition }: MachineView,
  images: Images,
  { staging, deadline, progress }: Parameters<HypervisorDriver['export']>[1],
): Promise<ExportedMachine> => {
  const { disks } = definition
  const buildsOnAnother = async ({ path, format }: Disk): Promise<boolean> =>
    format === 'qcow2' && (await images.info(join(home, path), format)).backing !== undefined
  const copied = await Promise.all(disks.map(async disk => isAbsolute(disk.path) || (await buildsOnAnother(disk))))
  const copy = { disks, home, folder: staging, images, deadline, progress }
  const lent = await lendFiles({
    definition: {
      ...definition,
      disks: disks.map((disk, at) => (copied[at] ? { ...disk, format: 'qcow2' as const } : disk)),
    },
    home,
    staging,
    deadline,
    copy(file, at) {
      if (!file.disk) return copyAttached(file)
      return copied[at] ? () => copyDisk(disks[at]!, at, copy) : undefined
    },
  })
  progress(1)
  return lent
}

const judgeDisk = async ({ format }: Disk, path: string, images: Images): Promise<number> => {
  const size = format === 'raw' ? (await stat(path)).size : await inspectQcow2(path)
  if (size > bounds.diskSize) throw new ServiceError('invalid', `${path} is larger than a disk can be.`)
  if (format === 'raw') return size
  // What QEMU itself reads in it must say the same, and that it can be opened at all.
  const { backing, dataFile } = await images.info(path, format)
  const other = backing ?? dataFile
  if (other !== undefined) throw new ServiceError('invalid', `${path} needs another file, ${other}; pack it flattened.`)
  return size
}

/** Judges a machine that came from a pack. What it says of formats holds: an image is never asked what it is. */
export const judgePacked =
  (images: Images) =>
  async (definition: Definition, folder: string): Promise<Definition> => {
    const measured = async (disk: Disk): Promise<Disk> => ({
      ...disk,
      size: await judgeDisk(disk, join(folder, disk.path), images),
    })
    return { ...definition, disks: await Promise.all(definition.disks.map(measured)) }
  }
