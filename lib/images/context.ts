import type { OpenOutgoing } from '#lib/platform/outgoing.ts'
import type { WorkFolders } from '#lib/platform/work-folders.ts'
import type { ConversionTools } from './convert/convert-to-qcow2.ts'
import type { RegisteredFiles } from './files/registered-files.ts'
import type { ImageLeases } from './leases.ts'
import type { ImageRecords } from './records.ts'
import type { CheckRoom } from './source/disk-room.ts'
import type { Uploads } from './source/uploads.ts'

/** Where the images of a host are kept, and what brings them there. It works without a hypervisor. */
export interface ImageStorage {
  readonly records: ImageRecords
  readonly leases: ImageLeases
  readonly files: RegisteredFiles
  readonly folders: WorkFolders
  readonly checkRoom: CheckRoom
  readonly uploads: Uploads
  readonly outgoing: OpenOutgoing
  /** The most bytes of a file that is pulled or uploaded, and of the disk in it. */
  readonly maxBytes: number
}

/** What the files of this folder share. */
export interface ImageContext extends ImageStorage {
  /** What converts disks; undefined on a host without qemu-img, which can only have ISO images. */
  readonly tools: ConversionTools | undefined
}
