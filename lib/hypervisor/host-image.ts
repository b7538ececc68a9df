import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import type { Definition } from './definition.ts'

type Disk = Definition['disks'][number]

/**
 * Returns the identity of a host image for the definition of a machine, so that a replaced file is noticed later. A file system
 * reuses the inode of a deleted file, but with another birth time. The device number is not part of the identity: on some file
 * systems it changes at every boot of the host, and the machine could no longer use its own disk.
 */
export const readImageIdentity = ({ inode, birthTime }: OpenFile): Pick<Disk, 'inode' | 'birthTime'> => ({
  inode,
  ...(birthTime !== undefined && { birthTime }),
})

/** True if an open file is the image that a disk was created with. Values that are missing on either side are not compared. */
export const isImageOfDisk = (disk: Disk, file: OpenFile): boolean =>
  (disk.inode === undefined || disk.inode === file.inode) &&
  (disk.birthTime === undefined || file.birthTime === undefined || disk.birthTime === file.birthTime)

/** Throws `conflict` if an open file is not the image that the disk of a machine was created with. */
export const assertNotReplaced = (disk: Disk, file: OpenFile, machine: string): void => {
  if (isImageOfDisk(disk, file)) return
  throw new ServiceError(
    'conflict',
    `${file.path}, a disk of ${machine}, was replaced by another file. Put the original file back, or create a new machine with the new file.`,
  )
}
