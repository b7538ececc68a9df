import type { FileHandle } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { CdRom, Disk } from '../../machine-parts.ts'
import { openMachineFile } from '../../files/open-machine-file.ts'
import { openAttachedDisk, type ResolvedDisk } from '../attached-files.ts'
import { listImageLayers } from '../image-layers.ts'
import { openLayers } from '../open-layers.ts'
import { type Change, refuseWhileRunning } from './change.ts'

/** Returns a path by which another process of this account reaches an open file of this one. */
const getProcessPath = ({ fd }: FileHandle): string => `/proc/${process.pid}/fd/${fd}`

/**
 * Throws `conflict` if a running QEMU cannot be given files: descriptors are inherited at its start only, and the open files of the
 * service are those of its account alone.
 */
export const assertReachable = ({ attachments: { account } }: Change, what: string): void => {
  if (process.platform !== 'linux') refuseWhileRunning(what, ', for only Linux gives open files to it')
  if (account) refuseWhileRunning(what, `, for QEMU runs as ${account.user}`)
}

/** Opens a disk for a running QEMU, as a start does. The paths are valid until `stack` is disposed of. */
export const openDiskForRunning = async (
  { view, next, attachments }: Change,
  disk: Disk,
  stack: AsyncDisposableStack,
): Promise<ResolvedDisk> => {
  const { id, name, home } = view
  if (isAbsolute(disk.path)) {
    const file = stack.use(await openAttachedDisk(attachments, { id, name, home }, disk, 'start'))
    return { ...disk, path: getProcessPath(file.handle) }
  }
  if (disk.format === 'raw') return disk
  const [, ...layers] = await openLayers(join(home, disk.path), stack, listImageLayers(next, attachments.openImage))
  return { ...disk, layers: layers.map(({ handle }) => getProcessPath(handle)) }
}

/** The ISO file in a drive: a file of the host, or a registered image. */
export type Medium = Pick<CdRom, 'path' | 'image'>

/** True for a drive with a medium. */
export const hasMedium = ({ path, image }: Medium): boolean => path !== undefined || image !== undefined

/** Opens an ISO file for a running QEMU; undefined for an empty drive. The path is valid until `stack` is disposed of. */
export const openMediumForRunning = async (
  { view, attachments: { hostFiles, openImage } }: Change,
  { path, image }: Medium,
  stack: AsyncDisposableStack,
): Promise<string | undefined> => {
  if (image !== undefined) return getProcessPath(stack.use(await openImage(image)).handle)
  if (path === undefined) return undefined
  return getProcessPath(stack.use(await openMachineFile(hostFiles, view, path)).handle)
}
