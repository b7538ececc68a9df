import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeTree } from '#lib/platform/files.ts'

/** Bytes that a transfer is going to write into a folder. */
interface SpaceNeed {
  readonly folder: string
  readonly bytes: number
}

/** The folders in which transfers keep their unfinished work. The same name gives the folder of the earlier try. */
export interface WorkFolders {
  /** Returns the folder of a transfer. Makes it if no earlier try has left it. */
  open(kind: 'push' | 'pull', ...name: readonly string[]): Promise<string>
  /** Makes an empty folder in the folder of a transfer. */
  empty(folder: string, name: string): Promise<string>
  remove(folder: string): Promise<void>
  /** Closes a folder and keeps it for a day for a later try. */
  keep(folder: string): Promise<void>
  /** Removes the folders that nobody has opened. Called at the start, after the interrupted transfers have opened theirs. */
  removeUnused(): Promise<void>
  /**
   * Throws `no-space` unless there is room for so many bytes in these folders, and for those of `other` on its disk. It
   * makes room by removing folders that are kept for later tries, the oldest first.
   */
  checkSpace(bytes: number, other?: SpaceNeed): Promise<void>
}

const retentionMilliseconds = 24 * 3_600_000
const sweepMilliseconds = 3_600_000

/** A file in a folder that is kept. Its time says since when. */
const keptMarker = 'kept'

interface Shortage {
  readonly device: number
  readonly neededBytes: number
  readonly freeBytes: number
}

/** Finds a disk that has not enough room for all that is needed on it. */
const findShortage = async (needs: readonly SpaceNeed[]): Promise<Shortage | undefined> => {
  const located = await Promise.all(needs.map(async need => ({ ...need, device: (await stat(need.folder)).dev })))
  for (const { folder, device } of located) {
    const onDevice = located.filter(need => need.device === device)
    const neededBytes = onDevice.reduce((sum, { bytes }) => sum + bytes, 0)
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < neededBytes) return { device, neededBytes, freeBytes: bavail * bsize }
  }
  return undefined
}

interface UnusedFolder {
  readonly path: string
  /** Since when the folder is kept, in milliseconds. Undefined when it is not kept. */
  readonly keptAt: number | undefined
}

/** Opens the folder that contains the work folders. */
export const openWorkFolders = async (root: string): Promise<WorkFolders> => {
  await makePrivateFolder(root)
  const used = new Set<string>()

  const listUnused = async (): Promise<readonly UnusedFolder[]> => {
    const paths = (await readdir(root)).map(name => join(root, name))
    const readKeptAt = (path: string) =>
      stat(join(path, keptMarker)).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      )
    const folders = await Promise.all(paths.map(async path => ({ path, keptAt: await readKeptAt(path) })))
    return folders.filter(({ path }) => !used.has(path))
  }
  const removeUnusedFolder = async (path: string): Promise<void> => {
    // A transfer may have opened the folder meanwhile.
    if (used.has(path)) return
    const trash = join(root, `unused-${crypto.randomUUID()}`)
    // The rename is synchronous, so that no transfer can open the folder between the check and the removal.
    renameSync(path, trash)
    await removeTree(root, trash)
  }
  const isOutdated = ({ keptAt }: UnusedFolder): boolean =>
    keptAt !== undefined && keptAt < Date.now() - retentionMilliseconds
  const removeOutdated = async (): Promise<void> => {
    for (const { path } of (await listUnused()).filter(isOutdated)) await removeUnusedFolder(path)
  }
  // The next run tries again what fails.
  setInterval(() => void removeOutdated().catch(() => undefined), sweepMilliseconds).unref()

  return {
    async open(kind, ...name) {
      const folder = join(
        root,
        `${kind}-${createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 32)}`,
      )
      used.add(folder)
      await removeOutdated()
      await makePrivateFolder(folder)
      await rm(join(folder, keptMarker), { force: true })
      return folder
    },
    async empty(folder, name) {
      const path = join(folder, name)
      await removeTree(root, path)
      await makePrivateFolder(path)
      return path
    },
    async remove(folder) {
      await removeTree(root, folder)
      used.delete(folder)
    },
    async keep(folder) {
      await writeFile(join(folder, keptMarker), '', { mode: 0o600 })
      used.delete(folder)
    },
    async removeUnused() {
      for (const unused of await listUnused())
        if (unused.keptAt === undefined || isOutdated(unused)) await removeUnusedFolder(unused.path)
    },
    async checkSpace(bytes, other) {
      const needs = [{ folder: root, bytes }, ...(other ? [other] : [])]
      const { dev: ownDevice } = await stat(root)
      for (let shortage = await findShortage(needs); shortage; shortage = await findShortage(needs)) {
        const kept = (await listUnused()).filter(({ keptAt }) => keptAt !== undefined)
        const [oldest] = kept.toSorted((a, b) => a.keptAt! - b.keptAt!)
        if (!oldest || shortage.device !== ownDevice)
          throw new ServiceError(
            'no-space',
            `The transfer needs ${shortage.neededBytes} bytes, and the disk of this host has ${shortage.freeBytes} bytes left. Make room, then try again.`,
          )
        await removeUnusedFolder(oldest.path)
      }
    },
  }
}
