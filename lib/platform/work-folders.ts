import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeTree } from './files.ts'

/** Bytes that a transfer is going to write into a folder. */
interface SpaceRequest {
  readonly folder: string
  readonly bytes: number
}

/**
 * The folders in which transfers keep their unfinished files: of machines, and of images that are pulled. A later
 * try of a transfer opens the same folder again.
 */
export interface WorkFolders {
  /** Returns the folder of a transfer, which `nameParts` identify. Creates it if no earlier try has left it. */
  open(kind: 'push' | 'pull', ...nameParts: readonly string[]): Promise<string>
  /** Creates an empty folder in the folder of a transfer, in place of one that an earlier try has left. */
  createEmpty(folder: string, name: string): Promise<string>
  remove(folder: string): Promise<void>
  /** Closes a folder and keeps it for a day for a later try. */
  keep(folder: string): Promise<void>
  /**
   * Removes the folders that no transfer has open, except those kept for less than a day. The service calls it at its start, after
   * the interrupted transfers have opened theirs.
   */
  removeUnused(): Promise<void>
  /**
   * Throws `no-space` unless there is room for so many bytes in these folders, and for those of `other` on its disk. Makes room by
   * removing folders that are kept for later tries, the oldest first.
   */
  checkSpace(bytes: number, other?: SpaceRequest): Promise<void>
}

/** Milliseconds for which a folder is kept. */
const retention = 24 * 3_600_000
/** Milliseconds between two removals of outdated folders. */
const cleanUpInterval = 3_600_000

/** The name of a file in each kept folder. The file's time says since when the folder is kept. */
const keptMarker = 'kept'

interface Shortage {
  readonly device: number
  readonly neededBytes: number
  readonly freeBytes: number
}

/** Finds a disk without enough room for all requests on it. */
const findShortage = async (requests: readonly SpaceRequest[]): Promise<Shortage | undefined> => {
  const located = await Promise.all(
    requests.map(async request => ({ ...request, device: (await stat(request.folder)).dev })),
  )
  for (const { folder, device } of located) {
    const onDevice = located.filter(request => request.device === device)
    const neededBytes = onDevice.reduce((sum, { bytes }) => sum + bytes, 0)
    const { bavail, bsize } = await statfs(folder)
    const freeBytes = bavail * bsize
    if (freeBytes < neededBytes) return { device, neededBytes, freeBytes }
  }
  return undefined
}

interface UnusedFolder {
  readonly path: string
  /** Since when the folder is kept, in milliseconds. Undefined when it is not kept. */
  readonly keptAt: number | undefined
}

/** Opens the work folders in the folder `root`. */
export const openWorkFolders = async (root: string): Promise<WorkFolders> => {
  await makePrivateFolder(root)
  /** The paths of the folders that transfers have open. */
  const openPaths = new Set<string>()

  const listUnused = async (): Promise<readonly UnusedFolder[]> => {
    const paths = (await readdir(root)).map(name => join(root, name))
    const readKeptAt = (path: string) =>
      stat(join(path, keptMarker)).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      )
    const folders = await Promise.all(paths.map(async path => ({ path, keptAt: await readKeptAt(path) })))
    return folders.filter(({ path }) => !openPaths.has(path))
  }
  const removeUnusedFolder = async (path: string): Promise<void> => {
    // A transfer may have opened the folder meanwhile.
    if (openPaths.has(path)) return
    const trash = join(root, `unused-${crypto.randomUUID()}`)
    // The rename is synchronous, so that no transfer can open the folder between the check and the removal.
    renameSync(path, trash)
    await removeTree(root, trash)
  }
  const isOutdated = ({ keptAt }: UnusedFolder): boolean => keptAt !== undefined && keptAt < Date.now() - retention
  const removeOutdated = async (): Promise<void> => {
    for (const { path } of (await listUnused()).filter(isOutdated)) await removeUnusedFolder(path)
  }
  // If a removal fails, the next clean-up tries it again.
  setInterval(() => void removeOutdated().catch(() => undefined), cleanUpInterval).unref()

  return {
    async open(kind, ...nameParts) {
      const folder = join(
        root,
        `${kind}-${createHash('sha256').update(JSON.stringify(nameParts)).digest('hex').slice(0, 32)}`,
      )
      openPaths.add(folder)
      await removeOutdated()
      await makePrivateFolder(folder)
      await rm(join(folder, keptMarker), { force: true })
      return folder
    },
    async createEmpty(folder, name) {
      const path = join(folder, name)
      await removeTree(root, path)
      await makePrivateFolder(path)
      return path
    },
    async remove(folder) {
      await removeTree(root, folder)
      openPaths.delete(folder)
    },
    async keep(folder) {
      await writeFile(join(folder, keptMarker), '', { mode: 0o600 })
      openPaths.delete(folder)
    },
    async removeUnused() {
      for (const unused of await listUnused())
        if (unused.keptAt === undefined || isOutdated(unused)) await removeUnusedFolder(unused.path)
    },
    async checkSpace(bytes, other) {
      const requests = [{ folder: root, bytes }, ...(other ? [other] : [])]
      const { dev: ownDevice } = await stat(root)
      for (let shortage = await findShortage(requests); shortage; shortage = await findShortage(requests)) {
        const kept = (await listUnused()).flatMap(({ path, keptAt }) =>
          keptAt === undefined ? [] : [{ path, keptAt }],
        )
        const [oldest] = kept.toSorted((a, b) => a.keptAt - b.keptAt)
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
