import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { bounds, type Definition, type NewCdRom, type NewDisk } from '#lib/hypervisor/definition.ts'
import { getDigestOfIso, ImageReference, type LeaseImage, measureDiskOfImage } from './leased-image.ts'

type Firmware = Definition['firmware']

const DiskSize = z
  .int()
  .min(1, 'must be at least 1 MB')
  .max(bounds.diskSize / 2 ** 20, `must be at most ${bounds.diskSize / 2 ** 20} MB`)

/** The members of a request to create a machine that concern its image. */
export const imageMembers = {
  image: ImageReference.optional().meta({
    description: 'Name or digest of a registered image: the first disk has its content',
  }),
  disk_size: DiskSize.optional().meta({ description: 'MB of that disk, if it is to be larger than the image' }),
} as const

/** The members of a disk that is made of a registered image. */
export const diskOfImage = {
  image: ImageReference.meta({ description: 'Name or digest of a registered image: the disk has its content' }),
  size: DiskSize.optional(),
} as const

/** A disk of a request, which can name an image by its name. Its size is in MB. */
type RequestedDisk =
  | Exclude<NewDisk, { readonly image: string }>
  | (z.infer<z.ZodObject<typeof diskOfImage>> & Pick<NewDisk, 'bus'>)

/** The part of a request that can name images. */
export interface RequestedImages {
  readonly image?: string | undefined
  readonly disk_size?: number | undefined
  readonly disks: readonly RequestedDisk[]
  readonly cdroms?: readonly NewCdRom[] | undefined
}

/** The disks and CD-ROMs of a request with the digests of their images, which are not deleted before this is disposed. */
export interface ResolvedImages extends Disposable {
  readonly parts: { readonly disks: readonly NewDisk[]; readonly cdroms?: readonly NewCdRom[] }
  /** The firmware that the image of the first disk asks for. */
  readonly firmware: Firmware
}

/** Returns the disks of a request with the one that `image` makes, which is the first. Throws `invalid`. */
const listRequestedDisks = ({
  image,
  disk_size: size,
  disks,
}: RequestedImages): readonly { readonly field: string; readonly disk: RequestedDisk }[] => {
  if (size !== undefined && image === undefined)
    throw new ServiceError('invalid', 'disk_size: it is the size of the disk that image makes, and there is no image.')
  if (image !== undefined && disks.length >= bounds.disks)
    throw new ServiceError('invalid', `disks: a machine can have ${bounds.disks} disks, the one of image included.`)
  return [
    ...(image === undefined ? [] : [{ field: 'image', disk: { image, size } }]),
    ...disks.map((disk, at) => ({ field: `disks.${at}`, disk })),
  ]
}

/** Finds the images that a request names. Throws `not-found`, and `invalid` with the member that is wrong. */
export const resolveImages = async (request: RequestedImages, leaseImage: LeaseImage): Promise<ResolvedImages> => {
  const requested = listRequestedDisks(request)
  using leases = new DisposableStack()
  let firmware: Firmware
  const disks: NewDisk[] = []
  for (const { field, disk } of requested) {
    if (!('image' in disk)) {
      disks.push(disk)
      continue
    }
    const { image } = leases.use(await leaseImage(disk.image))
    // The firmware loads the boot loader, which is on the first disk.
    if (disks.length === 0) firmware = image.firmware
    disks.push({ ...measureDiskOfImage(image, disk.size, field), ...(disk.bus && { bus: disk.bus }) })
  }
  const cdroms: NewCdRom[] = []
  for (const [at, { path, image: reference }] of (request.cdroms ?? []).entries()) {
    const field = `cdroms.${at}`
    if (path !== undefined && reference !== undefined)
      throw new ServiceError('invalid', `${field}: has a path and an image, so leave one out.`)
    if (reference === undefined) cdroms.push({ path })
    else cdroms.push({ image: getDigestOfIso(leases.use(await leaseImage(reference)).image, field) })
  }
  const kept = leases.move()
  return { parts: { disks, ...(request.cdroms && { cdroms }) }, firmware, [Symbol.dispose]: () => kept.dispose() }
}
