import { chmod, type FileHandle, lchown, mkdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { Account } from '#lib/platform/processes.ts'
import type { Definition } from '../definition.ts'
import { listMachineFiles } from '../files/machine-files.ts'
import { fileNames } from './arguments.ts'

const setOwner = async (path: string, uid: number, gid: number, mode: number): Promise<void> => {
  await lchown(path, uid, gid)
  await chmod(path, mode)
}

/** Lets the account read an open file of a machine. The service stays its owner. */
export const allowReading = async (file: FileHandle, { gid }: Account): Promise<void> => {
  await file.chown(0, gid)
  await file.chmod(0o640)
}

/**
 * Gives the account the rights that QEMU needs in a machine's folder, and no more. It can neither list the folder nor create a
 * file in it, so that it cannot replace a file that the service opens as root by a link. It needs no rights in the parent folders,
 * because QEMU starts in this one.
 */
export const setMachineOwner = async (home: string, definition: Definition, account: Account): Promise<void> => {
  const { uid, gid } = account
  await setOwner(home, 0, gid, 0o710)
  await mkdir(join(home, fileNames.runFolder), { recursive: true })
  await setOwner(join(home, fileNames.runFolder), uid, gid, 0o700)
  for (const { path, disk } of listMachineFiles(definition)) {
    if (isAbsolute(path)) continue
    if (disk) await setOwner(join(home, path), uid, gid, 0o600)
    else await setOwner(join(home, path), 0, gid, 0o640)
  }
}
