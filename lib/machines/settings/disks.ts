import { basename } from 'node:path'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { bounds, type Definition } from '#lib/hypervisor/definition.ts'
import type { Disk } from '#lib/hypervisor/machine-parts.ts'
import { generatePartName } from '#lib/hypervisor/parts.ts'
import { ImageReference, measureDiskOfImage } from '../images/leased-image.ts'
import { AbsolutePath } from '../schemas.ts'
import { findNamedImage } from './images.ts'
import { assertCount, findPart, replacePart, withoutPart } from './parts.ts'
import {
  type Change,
  createNumberSchema,
  type NamedImages,
  readOptions,
  type SetOperation,
  type Settings,
} from './setting.ts'

const megabyte = 2 ** 20
const Size = createNumberSchema('a size in MB').pipe(z.number().max(bounds.diskSize / megabyte))
const Bus = z.enum(['virtio', 'ide'])

const describe =
  (name: string): Change['read'] =>
  ({ disks }) => {
    const disk = disks.find(one => one.name === name)
    return disk ? `${basename(disk.path)}${disk.size > 0 ? `, ${disk.size / megabyte} MB` : ''}` : 'none'
  }

/** Returns a file name for a new disk that no other file of its machine has. */
const generateFileName = (name: string): string => `${name}-${crypto.randomUUID().slice(0, 8)}.qcow2`

/**
 * Returns the disk that an operation adds: a file of the host, a disk that was removed before, a new one with the content of a
 * registered image, or an empty one.
 */
const readNewDisk = (
  operation: SetOperation,
  { detached_disks = [] }: Definition,
  name: string,
  images: NamedImages,
): Disk => {
  const Image = z.union([AbsolutePath, ImageReference])
  const options = { size: Size.optional(), path: AbsolutePath.optional(), image: Image.optional(), bus: Bus.optional() }
  const { size, path, image = path, bus } = readOptions(operation, options)
  const part = { name, ...(bus && { bus }) }
  const detached = detached_disks.find(disk => disk.path === image)
  const registered = detached ? undefined : findNamedImage(image, images)
  if (registered)
    return {
      path: generateFileName(name),
      format: 'qcow2',
      ...measureDiskOfImage(registered, size, 'image'),
      ...part,
    }
  const isNew = size !== undefined && image === undefined
  if (isNew) return { path: generateFileName(name), size: size * megabyte, format: 'qcow2', ...part }
  if (size !== undefined || image === undefined)
    throw new ServiceError(
      'invalid',
      'device add hdd takes a size in MB for a new disk, the path of a file, or the name of a registered image.',
    )
  // The driver measures a file of the host.
  return { ...(detached ?? { path: image, size: 0, format: 'raw' as const }), ...part }
}

/** The operations on disks. A part's name is the value of all but `add`. */
export const diskSettings: Settings = {
  add(operation, current, images) {
    assertCount('disks', current.disks, bounds.disks)
    const name = generatePartName(
      'hdd',
      current.disks.flatMap(disk => disk.name ?? []),
    )
    const disk = readNewDisk(operation, current, name, images)
    if (current.disks.some(({ path }) => path === disk.path))
      throw new ServiceError('invalid', `${disk.path} is a disk of the machine already.`)
    const { detached_disks: detached } = current
    return {
      field: name,
      apply: definition => ({
        ...definition,
        disks: [...definition.disks, disk],
        ...(detached && { detached_disks: detached.filter(({ path }) => path !== disk.path) }),
      }),
      read: describe(name),
    }
  },
  set(operation, current) {
    const name = operation.value
    const disk = findPart(current.disks, name)
    const { size } = readOptions(operation, { size: Size })
    return {
      field: name,
      apply: definition => ({
        ...definition,
        disks: replacePart(definition.disks, { ...disk, size: size * megabyte }),
      }),
      read: describe(name),
    }
  },
  remove(operation, current) {
    const name = operation.value
    const { port: _, ...disk } = findPart(current.disks, name)
    const { flags } = readOptions(operation, {}, ['destroy-image', 'detach-only'])
    const isOwn = !disk.path.startsWith('/')
    const isKept = isOwn && !flags.has('destroy-image')
    if (!isOwn && flags.has('destroy-image'))
      throw new ServiceError('unsupported', `${name} is an image of the host, which the service does not delete.`)
    return {
      field: name,
      apply: definition => ({
        ...definition,
        disks: withoutPart(definition.disks, name),
        ...(isKept && { detached_disks: [...(definition.detached_disks ?? []), disk] }),
      }),
      read: describe(name),
    }
  },
}
