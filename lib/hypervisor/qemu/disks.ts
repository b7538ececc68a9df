import { copyFile } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import type { MachineView } from '../driver.ts'
import type { Definition, NewMachine } from '../definition.ts'
import { readImageIdentity } from '../host-image.ts'
import { firmwareFile } from '../files/machine-files.ts'
import type { OpenRegisteredImage } from '../files/registered-image.ts'
import { getDiskName } from '../parts.ts'
import { openRequestedFile, openMachineFile } from '../files/open-machine-file.ts'
import { type AttachedDisk, type Attachments, openAttachedDisk, assertSameFormat } from './attached-files.ts'
import type { Image, Images } from './images.ts'
import { openLayer } from './layer.ts'
import { listImageLayers } from './image-layers.ts'
import { createOverlay } from './layers.ts'
import { openLayers } from './open-layers.ts'
import { detectFormat, inspectQcow2 } from './qcow2.ts'

type Disk = Definition['disks'][number]

/** Returns the file name of an own disk: that of hdd1 is disk1.qcow2. */
export const getDiskFileName = (name: string): string => `${name.replace('hdd', 'disk')}.qcow2`

const measureSize = async (file: OpenFile, format: Disk['format'], images: Images): Promise<number> => {
  // QEMU rounds the size of a raw image up to whole sectors.
  if (format === 'raw') return Math.ceil(file.size / 512) * 512
  await inspectQcow2(file)
  return (await images.info({ format, file })).size
}

/**
 * Returns size, format and identity of a host image that a machine is to use in place. Throws `invalid` if it needs another file,
 * and `conflict` if it is the disk of another machine in another format.
 */
export const measureImage = async (
  file: OpenFile,
  images: Images,
  otherDisks: readonly AttachedDisk[],
): Promise<Pick<Disk, 'size' | 'format' | 'inode' | 'birthTime'>> => {
  const format = await detectFormat(file)
  const size = await measureSize(file, format, images)
  await assertSameFormat(file, format, otherDisks)
  return { size, format, ...readImageIdentity(file) }
}

/**
 * Plans the disks of a new machine: images in place keep their path, new ones get a name in its folder. Throws `forbidden`,
 * `invalid` for a file that cannot be a disk, and `conflict` for the disk of another machine in another format.
 */
export const planDisks = async (
  disks: NewMachine['disks'],
  images: Images,
  {
    hostFiles,
    otherDisks,
  }: { readonly hostFiles: Attachments['hostFiles']; readonly otherDisks: readonly AttachedDisk[] },
): Promise<Disk[]> => {
  const identities = new Set<string>()
  const planned: Disk[] = []
  for (const [at, disk] of disks.entries()) {
    const name = `hdd${at}`
    const part = { name, ...(disk.bus !== undefined && { bus: disk.bus }) }
    if ('image' in disk) {
      planned.push({ path: getDiskFileName(name), size: disk.size, format: 'qcow2', image: disk.image, ...part })
      continue
    }
    if ('size' in disk) {
      planned.push({ path: getDiskFileName(name), size: disk.size * 2 ** 20, format: 'qcow2', ...part })
      continue
    }
    await using file = await openRequestedFile(hostFiles, `disks.${at}.path`, disk.path, 'write')
    const { path, identity } = file
    if (identities.has(identity))
      throw new ServiceError('invalid', `${path} is named twice; a machine has each disk once.`)
    identities.add(identity)
    planned.push({ path, ...(await measureImage(file, images, otherDisks)), ...part })
  }
  return planned
}

interface NewDiskContext {
  readonly images: Images
  readonly openImage: OpenRegisteredImage
}

/**
 * Creates the image of a new disk in `folder`: an empty one, or one that reads as a registered image at first and keeps what is
 * written to it. Throws `invalid` for a disk that is smaller than its image.
 */
export const createDisk = async (
  { path, size, image }: Disk,
  folder: string,
  { images, openImage }: NewDiskContext,
): Promise<void> => {
  if (image === undefined) return images.create(join(folder, path), size)
  await using file = await openImage(image)
  const imageSize = await inspectQcow2(file)
  if (size < imageSize)
    throw new ServiceError(
      'invalid',
      `A disk of ${size} bytes cannot have the content of an image of ${imageSize} bytes.`,
    )
  await images.overlay(file.path, size, join(folder, path))
}

/** Creates the new images among `disks` in `folder`. Throws as `createDisk`. */
export const createDisks = async (disks: readonly Disk[], folder: string, context: NewDiskContext): Promise<void> => {
  for (const disk of disks) if (!isAbsolute(disk.path)) await createDisk(disk, folder, context)
}

/** Returns the definition of a clone's disk: an own qcow2 image, whatever the disk of the source is. */
export const describeClonedDisk = (disk: Disk, at: number): Disk => {
  const { size, bus, port } = disk
  const name = getDiskName(disk, at)
  const part = { name, ...(bus !== undefined && { bus }), ...(port !== undefined && { port }) }
  return { path: getDiskFileName(name), size, format: 'qcow2', ...part }
}

export interface CopyOptions {
  /** The definition of the source. */
  readonly source: Definition
  readonly attachments: Attachments
  /** The source's folder. */
  readonly home: string
  /** The clone's folder. */
  readonly folder: string
  /** The name of the file with the firmware variables in the source's folder, if it is not `firmwareFile`. */
  readonly variables?: string
  readonly images: Images
  readonly deadline: AbortSignal
  readonly onProgress: (fraction: number) => void
}

/** Opens a disk to copy with all its layers; `stack` closes them. Validates an attached image first. */
const openSourceImage = async (
  disk: Disk,
  { source, attachments, home }: CopyOptions,
  stack: AsyncDisposableStack,
): Promise<Image> => {
  const { path, format } = disk
  const { id, name } = source
  if (isAbsolute(path))
    return { format, file: stack.use(await openAttachedDisk(attachments, { id, name, home }, disk, 'copy')) }
  if (format === 'raw') return { format, file: stack.use(await openLayer(join(home, path))) }
  const [file, ...layers] = await openLayers(join(home, path), stack, listImageLayers(source, attachments.openImage))
  return { format, file, layers }
}

/** Copies one disk, with all its layers, into the new image `to`. */
export const copyDisk = async (disk: Disk, at: number, to: string, copy: CopyOptions): Promise<void> => {
  const { source, images, deadline, onProgress } = copy
  const { disks } = source
  await using stack = new AsyncDisposableStack()
  const from = await openSourceImage(disk, copy, stack)
  const totalSize = disks.reduce((sum, { size }) => sum + size, 0)
  const precedingSize = disks.slice(0, at).reduce((sum, { size }) => sum + size, 0)
  const onDiskProgress = (fraction: number): void => onProgress((precedingSize + fraction * disk.size) / totalSize)
  await images.convert(from, to, { signal: deadline, onProgress: onDiskProgress }).catch((error: unknown) => {
    throw deadline.aborted ? deadline.reason : error
  })
}

/** Copies every disk in full. Returns the definitions of the copies. */
export const copyDisks = async (copy: CopyOptions): Promise<Disk[]> => {
  const copies: Disk[] = []
  for (const [at, disk] of copy.source.disks.entries()) {
    const cloned = describeClonedDisk(disk, at)
    await copyDisk(disk, at, join(copy.folder, cloned.path), copy)
    copies.push(cloned)
  }
  return copies
}

/**
 * Throws `conflict` if the machine runs, and `unsupported` if linked clones cannot share a disk of it: other programs may write to
 * an image that is used in place, and only a qcow2 image can have a backing image.
 */
export const assertLinkable = ({ name, state, definition: { disks } }: MachineView): void => {
  if (state === 'running')
    throw new ServiceError(
      'conflict',
      `${name} is running, so a linked clone of it is not possible now; stop it first, or clone it in full.`,
    )
  const other = disks.find(({ path, format }) => isAbsolute(path) || format === 'raw')
  if (!other) return
  const why = isAbsolute(other.path) ? 'an image that it uses in place and others may change' : 'a raw image'
  throw new ServiceError(
    'unsupported',
    `Linked clones of ${name} are unsupported: its disk ${other.path} is ${why}. Clone it in full; linked clones of that copy are possible.`,
  )
}

/**
 * Creates disks that share the present content of the source's disks. Returns their definitions. `freeze` returns the base image
 * with the content of a source disk.
 */
export const linkDisks = async (copy: CopyOptions, freeze: (name: string) => Promise<string>): Promise<Disk[]> => {
  const { source, folder, images, deadline } = copy
  const linked: Disk[] = []
  for (const [at, disk] of source.disks.entries()) {
    deadline.throwIfAborted()
    const { path, image } = disk
    const cloned = describeClonedDisk(disk, at)
    const base = await freeze(path)
    await createOverlay(base, join(folder, cloned.path), images)
    linked.push({ ...cloned, backing: basename(base), ...(image !== undefined && { image }) })
  }
  return linked
}

/** Returns the base images that the disks of a linked clone were created on; undefined if the definition does not name them. */
export const listOriginalBases = ({ disks }: Definition): readonly string[] | undefined => {
  const bases = disks.map(({ backing }) => backing).filter(base => base !== undefined)
  return bases.length === disks.length ? bases : undefined
}

/** Copies kernel, initrd and firmware variables in the machine's own folder, and validates files of the host. */
export const copyOwnFiles = async (
  { name, kernel, initrd, firmware }: Definition,
  { home, folder, variables = firmwareFile, attachments: { hostFiles } }: CopyOptions,
): Promise<void> => {
  for (const path of [kernel, initrd])
    if (path !== undefined) {
      if (isAbsolute(path)) await (await openMachineFile(hostFiles, { name, home }, path))[Symbol.asyncDispose]()
      else await copyFile(join(home, path), join(folder, path))
    }
  if (firmware === 'uefi') await copyFile(join(home, variables), join(folder, firmwareFile))
}
