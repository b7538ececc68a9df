import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
import type { CdRom } from '#lib/hypervisor/machine-parts.ts'
import { generatePartName } from '#lib/hypervisor/parts.ts'
import { getDigestOfIso, ImageReference } from '../images/leased-image.ts'
import { AbsolutePath } from '../schemas.ts'
import { findNamedImage } from './images.ts'
import { assertCount, findPart, replacePart, withoutPart } from './parts.ts'
import { type Change, type NamedImages, readOptions, type Setting, type Settings } from './setting.ts'

const options = { path: AbsolutePath.optional(), image: z.union([AbsolutePath, ImageReference]).optional() }

/** Reads the medium that an operation names: the path of an ISO file of the host, or a registered image. Empty without one. */
const readMedium = (
  { path, image = path }: { readonly path?: string | undefined; readonly image?: string | undefined },
  images: NamedImages,
): Pick<CdRom, 'path' | 'image'> => {
  if (image === undefined) return {}
  const registered = findNamedImage(image, images)
  return registered ? { image: getDigestOfIso(registered, 'image') } : { path: image }
}

const describe =
  (name: string): Change['read'] =>
  ({ cdroms = [] }) => {
    const drive = cdroms.find(one => one.name === name)
    return drive ? (drive.path ?? drive.image ?? 'empty') : 'none'
  }

const changeDrive = (drive: CdRom): Change => ({
  field: drive.name,
  apply: definition => ({ ...definition, cdroms: replacePart(definition.cdroms ?? [], drive) }),
  read: describe(drive.name),
})

/** Inserts an ISO file into a drive. */
const insert: Setting = (operation, { cdroms = [] }, images) => {
  const { path: _, image: __, ...drive } = findPart(cdroms, operation.value)
  const medium = readMedium(readOptions(operation, options), images)
  if (Object.keys(medium).length === 0)
    throw new ServiceError(
      'invalid',
      `device ${operation.operation} ${drive.name} takes the path of an ISO file, or the name of a registered image.`,
    )
  return changeDrive({ ...drive, ...medium })
}

/** The operations on CD-ROM drives. */
export const cdRomSettings: Settings = {
  add(operation, { cdroms = [] }, images) {
    assertCount('CD-ROM drives', cdroms, bounds.cdroms)
    const name = generatePartName(
      'cdrom',
      cdroms.map(drive => drive.name),
    )
    const { bus, ...named } = readOptions(operation, { ...options, bus: z.enum(['virtio', 'ide']).optional() })
    const drive = { name, ...(bus && { bus }), ...readMedium(named, images) }
    return {
      field: name,
      apply: definition => ({ ...definition, cdroms: [...(definition.cdroms ?? []), drive] }),
      read: describe(name),
    }
  },
  set: insert,
  connect: insert,
  disconnect(operation, { cdroms = [] }) {
    readOptions(operation, {})
    const { path: _, image: __, ...drive } = findPart(cdroms, operation.value)
    return changeDrive(drive)
  },
  remove(operation, { cdroms = [] }) {
    const { name } = findPart(cdroms, operation.value)
    readOptions(operation, {})
    return {
      field: name,
      apply: definition => ({ ...definition, cdroms: withoutPart(definition.cdroms ?? [], name) }),
      read: describe(name),
    }
  },
}
