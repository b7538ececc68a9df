import { statfs } from 'node:fs/promises'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { WorkFolders } from '#lib/platform/work-folders.ts'

/** The part of a disk that images leave free, and the most bytes of it: on a full disk QEMU stops every guest that writes. */
const reservedShare = 0.05
const maxReserved = 2 ** 30

/** Throws `no-space` unless there is room for so many bytes of an image, beside what stays free. */
export type CheckRoom = (bytes: number) => Promise<void>

/** Creates the check of the disk with the folder of images. It makes room as `WorkFolders` do. */
export const createCheckRoom =
  (folder: string, folders: Pick<WorkFolders, 'checkSpace'>): CheckRoom =>
  async bytes => {
    const { blocks, bsize } = await statfs(folder)
    const reserved = Math.floor(Math.min(maxReserved, blocks * bsize * reservedShare))
    await folders.checkSpace(bytes + reserved).catch((error: unknown) => {
      if (!isFault(error, 'no-space')) throw error
      throw new ServiceError(
        'no-space',
        `The disk of this host has no room for ${bytes} bytes more: ${reserved} bytes of it stay free for the machines. Make room, then try again.`,
        { cause: error },
      )
    })
  }
