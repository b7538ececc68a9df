import { createHash } from 'node:crypto'
import { readdir, stat, statfs, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeTree } from '#lib/platform/files.ts'

/** What nobody has touched for so long belongs to no transfer that goes on. */
const abandoned = 7 * 86_400_000

/** Where transfers keep what they have so far. What is of one name is of one transfer, also of its next try. */
export interface WorkFolders {
  /** Makes the folder of a transfer, or gives the one of an earlier try. */
  open(kind: 'push' | 'pull', ...name: readonly string[]): Promise<string>
  /** Makes an empty folder in that of a transfer. */
  empty(folder: string, name: string): Promise<string>
  remove(folder: string): Promise<void>
  /** Throws `no-space` unless there is room for so many more bytes. */
  checkSpace(bytes: number): Promise<void>
}

/** Opens the root of these folders, and deletes what was left there long ago. */
export const openWorkFolders = async (root: string): Promise<WorkFolders> => {
  await makePrivateFolder(root)
  for (const name of await readdir(root)) {
    const folder = join(root, name)
    if (Date.now() - (await stat(folder)).mtimeMs > abandoned) await removeTree(root, folder)
  }
  return {
    async open(kind, ...name) {
      const folder = join(
        root,
        `${kind}-${createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 32)}`,
      )
      await makePrivateFolder(folder)
      const now = new Date()
      await utimes(folder, now, now)
      return folder
    },
    async empty(folder, name) {
      const path = join(folder, name)
      await removeTree(root, path)
      await makePrivateFolder(path)
      return path
    },
    remove: folder => removeTree(root, folder),
    async checkSpace(bytes) {
      const { bavail, bsize } = await statfs(root)
      if (bavail * bsize < bytes)
        throw new ServiceError(
          'no-space',
          `This needs ${bytes} bytes, and the disk of this host has ${bavail * bsize} left. Make room, then try again.`,
        )
    },
  }
}
