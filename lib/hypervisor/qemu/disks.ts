import { copyFile, link, rename, rm, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { syncFile, syncFolder } from '#lib/platform/files.ts'
import type { Definition, NewMachine } from '../definition.ts'
import type { Images } from './images.ts'

type Disk = Definition['disks'][number]

const ownName = (at: number): string => `disk${at}.qcow2`

/** What the disks of a new machine will be: images in place keep their path, new ones get a name in its folder. */
export const planDisks = (disks: NewMachine['disks'], images: Images): Promise<Disk[]> =>
  Promise.all(
    disks.map(async (disk, at): Promise<Disk> => {
      if ('size' in disk) return { path: ownName(at), size: disk.size * 2 ** 20, format: 'qcow2' }
      if (!(await stat(disk.path).catch(() => undefined))?.isFile())
        throw new ServiceError('invalid', `${disk.path} is not a file, so it cannot be a disk.`)
      // Looked at once: a guest that writes another kind of header into its raw image must not change what it is.
      const { format, size, backing, dataFile } = await images.info(disk.path)
      const other = backing ?? dataFile
      if (other !== undefined)
        throw new ServiceError(
          'invalid',
          `${disk.path} builds on another image, ${other}; flatten it first (qemu-img convert) or clone the machine that has it.`,
        )
      return { path: disk.path, size, format }
    }),
  )

/** Makes the new images among `disks` in `folder`. */
export const createDisks = async (disks: readonly Disk[], folder: string, images: Images): Promise<void> => {
  for (const { path, size } of disks) if (!isAbsolute(path)) await images.create(join(folder, path), size)
}

/** How the disks of a clone are described: its own images, whatever they were in the source. */
export const clonedDisks = (disks: readonly Disk[]): Disk[] =>
  disks.map(({ size }, at) => ({ path: ownName(at), size, format: 'qcow2' }))

export interface Copy {
  readonly disks: readonly Disk[]
  /** The source's folder. */
  readonly home: string
  /** The clone's folder. */
  readonly folder: string
  readonly images: Images
  readonly deadline: AbortSignal
  readonly progress: (part: number) => void
}

/** Copies one disk, with all that it builds on, into an image of its own. */
export const copyDisk = async (
  { path, format }: Disk,
  at: number,
  { disks, home, folder, images, deadline, progress }: Copy,
): Promise<void> => {
  const from = isAbsolute(path) ? path : join(home, path)
  const whole = disks.reduce((sum, { size }) => sum + size, 0)
  const before = disks.slice(0, at).reduce((sum, { size }) => sum + size, 0)
  const told = (part: number): void => progress((before + part * disks[at]!.size) / whole)
  const to = join(folder, ownName(at))
  await images.convert({ path: from, format }, to, { signal: deadline, progress: told }).catch((error: unknown) => {
    throw deadline.aborted ? deadline.reason : error
  })
}

/** Copies every disk in full. */
export const copyDisks = async (copy: Copy): Promise<void> => {
  for (const [at, disk] of copy.disks.entries()) await copyDisk(disk, at, copy)
}

/**
 * Freezes a disk: its content becomes a base image that nobody writes any more, and the disk an overlay on it.
 * Gives the base's path. At every moment the disk's own name leads to all of its content.
 */
const freeze = async (home: string, name: string, images: Images): Promise<string> => {
  const base = join(home, `base-${crypto.randomUUID()}.qcow2`)
  const overlay = join(home, `${name}.new`)
  await rm(overlay, { force: true })
  await link(join(home, name), base)
  await images.overlay(base, overlay)
  await syncFile(overlay)
  await rename(overlay, join(home, name))
  await syncFolder(home)
  return base
}

/** Makes disks that share what the source's hold now. Attached images, and raw ones, are copied. */
export const linkDisks = async (copy: Copy): Promise<void> => {
  const { disks, home, folder, images, deadline } = copy
  for (const [at, disk] of disks.entries()) {
    deadline.throwIfAborted()
    if (isAbsolute(disk.path) || disk.format === 'raw') await copyDisk(disk, at, copy)
    else await images.overlay(await freeze(home, disk.path, images), join(folder, ownName(at)))
  }
}

/** Copies the kernel and its like where they lie in the machine's own folder. */
export const copyOwnFiles = async ({ kernel, initrd }: Definition, { home, folder }: Copy): Promise<void> => {
  for (const path of [kernel, initrd])
    if (path !== undefined && !isAbsolute(path)) await copyFile(join(home, path), join(folder, path))
}
