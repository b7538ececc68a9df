import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import { Image, isDigest } from './schemas.ts'

/** The records of the images of this host. */
export interface ImageRecords {
  /** All images, ordered by name. */
  list(): Promise<readonly Image[]>
  get(id: string): Image | undefined
  /** Finds an image by its name in any case, its id, or a digest. Throws `not-found`. */
  find(reference: string): Promise<Image>
  /** Throws `conflict` if an image has the name. */
  assertFree(name: string): Promise<void>
  /** Stores a new image. Throws `conflict` when its name is taken. */
  add(image: Image): Promise<void>
  remove(image: Image): Promise<void>
  /** True if an image has its content in the file with this digest. */
  hasDigest(digest: string): Promise<boolean>
}

const createTakenError = (name: string): ServiceError =>
  new ServiceError('conflict', `There is an image with the name ${name} already. Delete it, or choose another name.`)

/** Opens the records of images in a store. */
export const openImageRecords = (store: Store, publish: Publish): ImageRecords => {
  const images = store.collection('images', Image, { unique: { name: ({ name }) => name.toLowerCase() } })
  // The schema drops the revision.
  const toImage = (stored: Image & Stored): Image => Image.parse(stored)
  const publishImageEvent = (event: string, { id, name, kind, digest }: Image): Write =>
    publish({
      // The type of the events of machines, because hosts pass events of this type on to their control.
      type: 'pdfm',
      message: `IMAGE_${event}`,
      body: { image_id: id, name, kind, digest },
      audience: { claims: ['LIST_IMAGE'] },
    })
  const list = async (): Promise<readonly Image[]> =>
    (await images.list()).map(toImage).toSorted((a, b) => a.name.localeCompare(b.name))

  return {
    list,
    get(id) {
      const found = images.getSync(id)
      return found && toImage(found)
    },
    async find(reference) {
      const wanted = reference.toLowerCase()
      const found = (await list()).find(({ id, name, digest, sha256 }) =>
        isDigest(wanted) ? digest === wanted || sha256 === wanted : name.toLowerCase() === wanted || id === wanted,
      )
      if (!found) throw new ServiceError('not-found', `There is no image with the name, id or digest ${reference}.`)
      return found
    },
    async assertFree(name) {
      if (await images.find('name', name.toLowerCase())) throw createTakenError(name)
    },
    async add(image) {
      await store.commit([images.put(image), publishImageEvent('ADDED', image)]).catch((error: unknown) => {
        throw isFault(error, 'conflict') ? createTakenError(image.name) : error
      })
    },
    async remove(image) {
      await store.commit([images.remove({ id: image.id }), publishImageEvent('REMOVED', image)])
    },
    hasDigest: async digest => (await list()).some(image => image.digest === digest),
  }
}
