import { join } from 'node:path'
import type { Publish } from '#lib/events/events.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import type { OpenOutgoing } from '#lib/platform/outgoing.ts'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import type { Store } from '#lib/storage/store.ts'
import type { ImageStorage } from './context.ts'
import { openRegisteredFiles } from './files/registered-files.ts'
import { createImageLeases } from './leases.ts'
import { openImageRecords } from './records.ts'
import { createCheckRoom } from './source/disk-room.ts'
import { openUploads } from './source/uploads.ts'

interface Options {
  readonly store: Store
  readonly publish: Publish
  /** The folder of the files. Pulls and uploads under way are in folders of it. */
  readonly folder: string
  readonly outgoing: OpenOutgoing
  readonly maxBytes: number
}

/** Opens the storage of images in a folder. Drivers and machines read it; `createImages` adds what changes it. */
export const openImageStorage = async ({
  store,
  publish,
  folder,
  outgoing,
  maxBytes,
}: Options): Promise<ImageStorage> => {
  await makePrivateFolder(folder)
  const records = openImageRecords(store, publish)
  const folders = await openWorkFolders(join(folder, 'work'))
  const checkRoom = createCheckRoom(folder, folders)
  return {
    records,
    leases: createImageLeases(records),
    files: await openRegisteredFiles(store, folder),
    folders,
    checkRoom,
    uploads: await openUploads({ folder: join(folder, 'uploads'), maxBytes, checkRoom }),
    outgoing,
    maxBytes,
  }
}
