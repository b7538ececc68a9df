import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import { ImageReference, type LeasedImage, type LeaseImage } from '../images/leased-image.ts'
import { type NamedImages, parseValue, type SetOperation } from './setting.ts'

/** Images that are kept from deletion until this is disposed. */
interface LeasedImages extends Disposable {
  readonly images: NamedImages
}

/** Returns the reference of the registered image that an operation names; undefined if it names a file. */
const findReference = ({ group, operation, options }: SetOperation, files: ReadonlySet<string>): string | undefined => {
  const value = options.findLast(({ flag }) => flag.replace(/^--/, '') === 'image')?.value
  if (group !== 'device' || value === undefined || value.startsWith('/') || files.has(value)) return undefined
  return parseValue(`${group} ${operation}`, ImageReference, value)
}

/**
 * Finds the registered images that the operations of a request name. The option `image` names one, unless it is an absolute path or
 * the file of a disk of the machine. Throws `not-found`.
 */
export const leaseNamedImages = async (
  operations: readonly SetOperation[],
  { disks, detached_disks = [] }: Definition,
  leaseImage: LeaseImage,
): Promise<LeasedImages> => {
  using leases = new DisposableStack()
  const files = new Set([...disks, ...detached_disks].map(({ path }) => path))
  const images = new Map<string, LeasedImage['image']>()
  for (const operation of operations) {
    const reference = findReference(operation, files)
    if (reference !== undefined) images.set(reference, leases.use(await leaseImage(reference)).image)
  }
  const kept = leases.move()
  return { images, [Symbol.dispose]: () => kept.dispose() }
}

/**
 * Returns the registered image that an operation names; undefined for no name and for an absolute path. Throws `invalid` for any
 * other file, since a relative path would lead out of the folder of its machine.
 */
export const findNamedImage = (
  reference: string | undefined,
  images: NamedImages,
): LeasedImage['image'] | undefined => {
  if (reference === undefined || reference.startsWith('/')) return undefined
  const image = images.get(reference)
  if (!image)
    throw new ServiceError(
      'invalid',
      `${reference} is neither an absolute path, nor a registered image, nor the file of a disk that was removed.`,
    )
  return image
}
