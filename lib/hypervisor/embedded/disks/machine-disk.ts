import { isAbsolute, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { type Access, type OpenFile, openFile } from '#lib/platform/open-file.ts'
import type { Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import { readStart } from '../../files/file-start.ts'
import { openMachineFile, type HostFileOpener } from '../../files/open-machine-file.ts'
import { assertNotReplaced } from '../../host-image.ts'
import { inspectDisk } from '../limits.ts'
import { isOverlay, signatureSize } from './overlay.ts'

/** The open disk of a machine. Disposing of it closes its files. */
export interface MachineDisk extends AsyncDisposable {
  readonly file: OpenFile
  /** The base image; undefined if `file` has the whole content, else it is an overlay (`overlay.ts`). */
  readonly base: OpenFile | undefined
  /** Bytes that the guest sees. */
  readonly size: number
}

/** Makes the writes of a guest durable. Another regular file may have taken the place of the disk meanwhile. */
export const syncMachineDisk = async ({ home, definition }: MachineView): Promise<void> => {
  const path = definition.disks[0]?.path
  if (path === undefined) return
  await using file = await openFile(resolve(home, path))
  await file.handle.sync()
}

/** Returns the path of the base image of a linked clone, relative to its folder; undefined for another disk. */
const getBasePath = ({ base, disks }: Definition): string | undefined => {
  const backing = disks[0]?.backing
  return base === undefined || backing === undefined ? undefined : `../${base}/${backing}`
}

/**
 * Opens the machine's disk. Throws as `openMachineFile` does, `conflict` if the file was replaced since the machine was created,
 * and `unsupported` or `invalid` if it is not a usable disk any more.
 */
export const openMachineDisk = async (
  { home, name, definition }: MachineView,
  hostFiles: HostFileOpener,
  access: Access,
): Promise<MachineDisk | undefined> => {
  const [disk] = definition.disks
  if (disk === undefined) return undefined
  await using stack = new AsyncDisposableStack()
  const file = stack.use(await openMachineFile(hostFiles, { home, name }, disk.path, access))
  if (isAbsolute(disk.path)) assertNotReplaced(disk, file, name)
  const basePath = getBasePath(definition)
  const base =
    basePath === undefined ? undefined : stack.use(await openMachineFile(hostFiles, { home, name }, basePath))
  const size = await inspectDisk(base ?? file)
  if (base && !isOverlay(await readStart(file, signatureSize), file.size, size))
    throw new ServiceError(
      'conflict',
      `${file.path}, the disk of the linked clone ${name}, is damaged or does not belong to its base ${base.path}. Put the right file back.`,
    )
  const openFiles = stack.move()
  return { file, base, size, [Symbol.asyncDispose]: () => openFiles.disposeAsync() }
}
