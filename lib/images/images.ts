import type { Principal } from '#lib/access/principal.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import { ServiceError } from '#lib/errors.ts'
import { throwFullDisk } from '#lib/platform/full-disk.ts'
import type { ImageContext } from './context.ts'
import { createImage } from './create-image.ts'
import type { CreateImage, Image, Upload } from './schemas.ts'
import { parseContentRange } from './source/content-range.ts'

/** The registered images of this host. A `reference` is a name in any case, an id, or a digest. */
export interface Images {
  list(): Promise<readonly Image[]>
  /** Throws `not-found`. */
  show(reference: string): Promise<Image>
  /** Pulls an image, or takes an uploaded one (see `createImage`). */
  create(caller: Principal, request: CreateImage, progress?: ProgressReporter): Promise<Image>
  /** Deletes an image. Throws `not-found`, and `conflict` with the names of the machines that use it. */
  remove(reference: string): Promise<Image>
  /** Returns how much of an upload is there. Throws `not-found`. */
  showUpload(caller: Principal, name: string): Promise<Upload>
  /** Adds a range to an upload; `contentRange` is the header with its offset (see `Uploads.write`). */
  upload(caller: Principal, name: string, contentRange: string | null, bytes: Uint8Array): Promise<Upload>
  /**
   * Deletes what no image needs any more: work folders of earlier processes, and files without a record, except those that a
   * machine uses. Call it when no job can use them.
   */
  removeUnused(): Promise<void>
}

/** The machines of this host, as far as their images matter. */
export interface ImageUsers {
  /** The names of the machines with a disk or a CD-ROM of this image. */
  listImageUsers(digest: string): readonly string[]
  /** True if there is a machine whose definition cannot be read, so that nobody knows its images. */
  hasUnreadable(): boolean
}

/** Pulls of one user that run at the same time; others wait. */
const maxPullsPerUser = 4

/** Creates the registered images of this host. */
export const createImages = (context: ImageContext, machines: ImageUsers): Images => {
  const { records, leases, files, folders, uploads } = context
  const limiter = createKeyedLimiter(maxPullsPerUser)
  /** The names of the images that are being made, in lower case. */
  const pending = new Set<string>()
  const isUnused = async (digest: string): Promise<boolean> =>
    !(await records.hasDigest(digest)) && machines.listImageUsers(digest).length === 0 && !machines.hasUnreadable()

  const assertUnused = async ({ id, name, digest }: Image): Promise<void> => {
    // As long as another image has the same content, the file stays.
    if ((await records.list()).some(other => other.digest === digest && other.id !== id)) return
    const users = machines.listImageUsers(digest)
    if (users.length > 0)
      throw new ServiceError(
        'conflict',
        `The image ${name} is used by ${users.length === 1 ? 'the machine' : 'the machines'} ${users.join(', ')}, whose disks build on it. Delete ${users.length === 1 ? 'it' : 'them'} first, or clone in full what is to stay.`,
      )
  }

  return {
    list: records.list,
    show: records.find,
    async create(caller, request, progress = noProgress) {
      const key = request.name.toLowerCase()
      if (pending.has(key))
        throw new ServiceError('conflict', `An image with the name ${request.name} is being made by another job.`)
      pending.add(key)
      try {
        return await limiter.run(caller.id, () => createImage(context, caller, request, progress), progress.signal)
      } finally {
        pending.delete(key)
      }
    },
    async remove(reference) {
      const image = await records.find(reference)
      return leases.deleteUnleased(image, async () => {
        await assertUnused(image)
        await records.remove(image)
        await files.remove(image.digest, () => isUnused(image.digest))
        return image
      })
    },
    showUpload: async (caller, name) => ({ name, offset: await uploads.measure(caller, name) }),
    async upload(caller, name, contentRange, bytes) {
      const range = parseContentRange(contentRange)
      if (range.start === 0) await records.assertFree(name)
      const offset = await uploads
        .write(caller, name, range, bytes)
        .catch((error: unknown) => throwFullDisk(error, 'send the range again'))
      return { name, offset }
    },
    async removeUnused() {
      await folders.removeUnused()
      await uploads.removeOutdated()
      for (const digest of await files.list()) await files.remove(digest, () => isUnused(digest))
    },
  }
}
