import { copyFile } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import type { Definition, NewMachine } from '../definition.ts'
import { readImageIdentity } from '../host-image.ts'
import { openRequestedFile, openMachineFile } from '../files/open-machine-file.ts'
import { type AttachedDisk, type Attachments, openAttachedDisk, assertSameFormat } from './attached-files.ts'
import type { Image, Images } from './images.ts'
import { openLayer } from './layer.ts'
import { createOverlay } from './layers.ts'
import { openLayers } from './open-layers.ts'
import { detectFormat, inspectQcow2 } from './qcow2.ts'

type Disk = Definition['disks'][number]

const getDiskFileName = (at: number): string => `disk${at}.qcow2`

/** Returns size and format of a host image for a new machine. Throws `invalid` if it needs another file. */
const measureImage = async (file: OpenFile, images: Images): Promise<Pick<Disk, 'size' | 'format'>> => {
  const { size } = file
  const format = await detectFormat(file)
  // QEMU rounds the size of a raw image up to whole sectors.
  if (format === 'raw') return { size: Math.ceil(size / 512) * 512, format }
  await inspectQcow2(file)
  return { size: (await images.info({ format, file })).size, format }
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
    if ('size' in disk) {
      planned.push({ path: getDiskFileName(at), size: disk.size * 2 ** 20, format: 'qcow2' })
      continue
    }
    await using file = await openRequestedFile(hostFiles, `disks.${at}.path`, disk.path, 'write')
    const { path, identity } = file
    if (identities.has(identity))
      throw new ServiceError('invalid', `${path} is named twice; a machine has each disk once.`)
    identities.add(identity)
    const measurement = await measureImage(file, images)
    await assertSameFormat(file, measurement.format, otherDisks)
    planned.push({ path, ...measurement, ...readImageIdentity(file) })
  }
  return planned
}

/** Creates the new images among `disks` in `folder`. */
export const createDisks = async (disks: readonly Disk[], folder: string, images: Images): Promise<void> => {
  for (const { path, size } of disks) if (!isAbsolute(path)) await images.create(join(folder, path), size)
}

/** Returns the definitions of a clone's disks: own qcow2 images, whatever the source has. */
const describeClonedDisks = (disks: readonly Disk[]): Disk[] =>
  disks.map(({ size }, at) => ({ path: getDiskFileName(at), size, format: 'qcow2' }))

export interface CopyOptions {
  /** The definition of the source. */
  readonly source: Definition
  readonly attachments: Attachments
  /** The source's folder. */
  readonly home: string
  /** The clone's folder. */
  readonly folder: string
  readonly images: Images
  readonly deadline: AbortSignal
  readonly onProgress: (fraction: number) => void
}

/** Opens a disk to copy with all its layers; `stack` closes them. Validates an attached image first. */
const openSourceImage = async (
  disk: Disk,
  { source: { id, name }, attachments, home }: CopyOptions,
  stack: AsyncDisposableStack,
): Promise<Image> => {
  const { path, format } = disk
  if (isAbsolute(path))
    return { format, file: stack.use(await openAttachedDisk(attachments, { id, name, home }, disk, 'copy')) }
  if (format === 'raw') return { format, file: stack.use(await openLayer(join(home, path))) }
  const [file, ...layers] = await openLayers(join(home, path), stack)
  return { format, file, layers }
}

/** Copies one disk, with all its layers, into one new image. */
export const copyDisk = async (disk: Disk, at: number, copy: CopyOptions): Promise<void> => {
  const { source, folder, images, deadline, onProgress } = copy
  const { disks } = source
  await using stack = new AsyncDisposableStack()
  const from = await openSourceImage(disk, copy, stack)
  const totalSize = disks.reduce((sum, { size }) => sum + size, 0)
  const precedingSize = disks.slice(0, at).reduce((sum, { size }) => sum + size, 0)
  const onDiskProgress = (fraction: number): void =>
    onProgress((precedingSize + fraction * disks[at]!.size) / totalSize)
  const to = join(folder, getDiskFileName(at))
  await images.convert(from, to, { signal: deadline, onProgress: onDiskProgress }).catch((error: unknown) => {
    throw deadline.aborted ? deadline.reason : error
  })
}

/** Copies every disk in full. Returns the definitions of the copies. */
export const copyDisks = async (copy: CopyOptions): Promise<Disk[]> => {
  for (const [at, disk] of copy.source.disks.entries()) await copyDisk(disk, at, copy)
  return describeClonedDisks(copy.source.disks)
}

/**
 * Throws `unsupported` if linked clones cannot share a disk of the machine: other programs may write to an image that is used in
 * place, and only a qcow2 image can have a backing image.
 */
export const assertLinkable = ({ name, disks }: Definition): void => {
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
  const disks = describeClonedDisks(source.disks)
  const linked: Disk[] = []
  for (const [at, disk] of disks.entries()) {
    deadline.throwIfAborted()
    const base = await freeze(source.disks[at]!.path)
    await createOverlay(base, join(folder, disk.path), images)
    linked.push({ ...disk, backing: basename(base) })
  }
  return linked
}

/** Returns the base images that the disks of a linked clone were created on; undefined if the definition does not name them. */
export const listOriginalBases = ({ disks }: Definition): readonly string[] | undefined => {
  const bases = disks.map(({ backing }) => backing).filter(base => base !== undefined)
  return bases.length === disks.length ? bases : undefined
}

/** Copies kernel and initrd that are in the machine's own folder, and validates those of the host. */
export const copyOwnFiles = async (
  { name, kernel, initrd }: Definition,
  { home, folder, attachments: { hostFiles } }: CopyOptions,
): Promise<void> => {
  for (const path of [kernel, initrd])
    if (path !== undefined) {
      if (isAbsolute(path)) await (await openMachineFile(hostFiles, { name, home }, path))[Symbol.asyncDispose]()
      else await copyFile(join(home, path), join(folder, path))
    }
}
