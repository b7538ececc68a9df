import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'

/** A registered image that is kept from deletion until the lease is disposed. Sizes are in bytes. */
export interface LeasedImage extends Disposable {
  readonly image: {
    readonly name: string
    readonly kind: 'disk' | 'iso'
    readonly digest: string
    readonly virtual_size: number
    readonly firmware?: Definition['firmware']
  }
}

/** Finds a registered image by its name, its id, or a digest. Throws `not-found`. */
export type LeaseImage = (reference: string) => Promise<LeasedImage>

/** What a request names an image by. */
export const ImageReference = z.string().min(1).max(128)

const MB = 2 ** 20

/**
 * Returns the digest of an image and the bytes of a disk that is made of it. `size` is in MB; that of the image when left out.
 * Throws `invalid` for an ISO image and for a size below that of the image, with `field` in the message.
 */
export const measureDiskOfImage = (
  { name, kind, digest, virtual_size: imageSize }: LeasedImage['image'],
  size: number | undefined,
  field: string,
): { readonly image: string; readonly size: number } => {
  if (kind === 'iso')
    throw new ServiceError(
      'invalid',
      `${field}: ${name} is an ISO image. Put it into a CD-ROM drive; a disk needs a disk image.`,
    )
  const bytes = size === undefined ? imageSize : size * MB
  if (bytes < imageSize)
    throw new ServiceError(
      'invalid',
      `${field}: a disk of ${size} MB is smaller than the image ${name}, which has ${Math.ceil(imageSize / MB)} MB. Ask for as much or more.`,
    )
  return { image: digest, size: bytes }
}

/** Returns the digest of an ISO image for a CD-ROM drive. Throws `invalid` for the image of a disk. */
export const getDigestOfIso = ({ name, kind, digest }: LeasedImage['image'], field: string): string => {
  if (kind === 'iso') return digest
  throw new ServiceError(
    'invalid',
    `${field}: ${name} is the image of a disk. Make a disk of it; a CD-ROM drive needs an ISO image.`,
  )
}
