import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeTree } from '#lib/platform/files.ts'

/** Where transfers keep what they have so far. What is of one name is of one transfer, also of its next try. */
export interface WorkFolders {
  /** Makes the folder of a transfer, or gives the one of an earlier try. */
  open(kind: 'push' | 'pull', ...name: readonly string[]): Promise<string>
  /** Makes an empty folder in that of a transfer. */
  empty(folder: string, name: string): Promise<string>
  remove(folder: string): Promise<void>
  /** Removes what no transfer of this process has opened: for when those of the last one that go on have done so. */
  removeUnused(): Promise<void>
  /** Throws `no-space` unless there is room for so many more bytes. */
  checkSpace(bytes: number): Promise<void>
}

/** Opens the root of these folders. */
export const openWorkFolders = async (root: string): Promise<WorkFolders> => {
  await makePrivateFolder(root)
  const used = new Set<string>()
  return {
    async open(kind, ...name) {
      const folder = join(
        root,
        `${kind}-${createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 32)}`,
      )
      used.add(folder)
      await makePrivateFolder(folder)
      return folder
    },
    async empty(folder, name) {
      const path = join(folder, name)
      await removeTree(root, path)
      await makePrivateFolder(path)
      return path
    },
    remove: folder => removeTree(root, folder),
    async removeUnused() {
      const trash = join(root, `unused-${crypto.randomUUID()}`)
      for (const name of await readdir(root)) {
        if (used.has(join(root, name))) continue
        // At once, so that no transfer can open it meanwhile.
        renameSync(join(root, name), trash)
        await removeTree(root, trash)
      }
    },
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
