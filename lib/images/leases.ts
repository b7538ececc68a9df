import { createKeyCounts } from '#lib/async/key-counts.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ImageRecords } from './records.ts'
import type { Image } from './schemas.ts'

/** An image that is not deleted before the lease is disposed. */
export interface ImageLease extends Disposable {
  readonly image: Image
}

/** Keeps images from deletion while machines are made of them, which the definition of no machine shows yet. */
export interface ImageLeases {
  /** Finds an image by its name, its id, or a digest. Throws `not-found`, and `conflict` while it is being deleted. */
  take(reference: string): Promise<ImageLease>
  /** Runs the deletion of an image, `work`. Throws `conflict` while somebody has a lease of it or deletes it. */
  deleteUnleased<T>(image: Image, work: () => Promise<T>): Promise<T>
}

export const createImageLeases = (records: Pick<ImageRecords, 'find' | 'get'>): ImageLeases => {
  const leases = createKeyCounts()
  const removing = new Set<string>()
  return {
    async take(reference) {
      const image = await records.find(reference)
      const { id, digest, name } = image
      if (removing.has(digest) || !records.get(id))
        throw new ServiceError('conflict', `The image ${name} is being deleted.`)
      return { image, ...leases.add(digest) }
    },
    async deleteUnleased({ digest, name }, work) {
      if (removing.has(digest)) throw new ServiceError('conflict', `The image ${name} is being deleted already.`)
      if (leases.get(digest) > 0)
        throw new ServiceError(
          'conflict',
          `The image ${name} is used by a machine that is being created. Try again later.`,
        )
      removing.add(digest)
      try {
        return await work()
      } finally {
        removing.delete(digest)
      }
    },
  }
}
