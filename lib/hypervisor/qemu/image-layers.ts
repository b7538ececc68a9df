import { basename } from 'node:path'
import type { Definition } from '../definition.ts'
import type { OpenRegisteredImage } from '../files/registered-image.ts'

/** The registered images that the disks of one machine may build on, as the machine's definition says. */
export interface ImageLayers {
  readonly digests: ReadonlySet<string>
  readonly open: OpenRegisteredImage
}

/** Returns the images that the disks of a machine may build on. */
export const listImageLayers = (
  { disks, detached_disks = [] }: Definition,
  open: OpenRegisteredImage,
): ImageLayers => ({
  digests: new Set([...disks, ...detached_disks].flatMap(({ image }) => image ?? [])),
  open,
})

/**
 * Returns the digest of the image that a header names; undefined if it is none of these. Only the definition says which images
 * there are, and the image is opened by its digest: the folder in a header means nothing.
 */
export const findImageLayer = (backing: string, { digests }: ImageLayers): string | undefined => {
  const digest = basename(backing, '.qcow2')
  return digests.has(digest) ? digest : undefined
}
