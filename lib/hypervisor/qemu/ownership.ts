import { chmod, type FileHandle, lchown, mkdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { Account } from '#lib/platform/processes.ts'
import type { Definition } from '../definition.ts'
import { listMachineFiles } from '../files/machine-files.ts'
import { fileNames } from './file-names.ts'

const setOwner = async (path: string, uid: number, gid: number, mode: number): Promise<void> => {
  await lchown(path, uid, gid)
  await chmod(path, mode)
}

/** Gives the account an own file of a machine that its guest can change. */
export const setFileOwner = (path: string, { uid, gid }: Account): Promise<void> => setOwner(path, uid, gid, 0o600)

/** Lets the account read an open file. The service stays its owner, and a read-only file stays read-only. */
export const allowReading = async (file: FileHandle, { gid }: Account): Promise<void> => {
  const { mode } = await file.stat()
  await file.chown(0, gid)
  await file.chmod((mode & 0o600) | 0o040)
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
  for (const { path, isWritable } of listMachineFiles(definition)) {
    if (isAbsolute(path)) continue
    if (isWritable) await setOwner(join(home, path), uid, gid, 0o600)
    else await setOwner(join(home, path), 0, gid, 0o640)
  }
}
