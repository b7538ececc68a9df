import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder, removeTree } from '#lib/platform/files.ts'

/** Bytes that are to be written into a folder. */
interface Need {
  readonly folder: string
  readonly bytes: number
}

/** Where transfers keep what they have so far. What is of one name is of one transfer, also of its next try. */
export interface WorkFolders {
  /** Makes the folder of a transfer, or gives the one of an earlier try. */
  open(kind: 'push' | 'pull', ...name: readonly string[]): Promise<string>
  /** Makes an empty folder in that of a transfer. */
  empty(folder: string, name: string): Promise<string>
  remove(folder: string): Promise<void>
  /** Ends the use of a folder and leaves it for a later try, for a day. */
  keep(folder: string): Promise<void>
  /** Removes what no transfer of this process has opened: for when those of the last one that go on have done so. */
  removeUnused(): Promise<void>
  /**
   * Throws `no-space` unless there is room for so many more bytes here, and for those that go elsewhere on the disk where they
   * go. What is kept for later tries makes room, the oldest first.
   */
  checkSpace(bytes: number, elsewhere?: Need): Promise<void>
}

/** Milliseconds that a folder is kept for a later try. */
const keptFor = 24 * 3_600_000
/** Milliseconds between two looks at that. */
const every = 3_600_000

/** A file in a folder that is kept: its time is when that began. */
const mark = 'kept'

/** Where there is not enough room for all, and for how much. */
const lackOf = async (needs: readonly Need[]): Promise<{ device: number; bytes: number; left: number } | undefined> => {
  const places = await Promise.all(needs.map(async need => ({ ...need, device: (await stat(need.folder)).dev })))
  for (const { folder, device } of places) {
    const bytes = places.filter(other => other.device === device).reduce((sum, one) => sum + one.bytes, 0)
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < bytes) return { device, bytes, left: bavail * bsize }
  }
  return undefined
}

/** Opens the root of these folders. */
export const openWorkFolders = async (root: string): Promise<WorkFolders> => {
  await makePrivateFolder(root)
  const used = new Set<string>()

  /** The folders that nobody uses now; since when each is kept, in milliseconds, where it is. */
  const unused = async (): Promise<readonly { path: string; keptAt: number | undefined }[]> => {
    const paths = (await readdir(root)).map(name => join(root, name))
    const keptAt = (path: string) =>
      stat(join(path, mark)).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      )
    const all = await Promise.all(paths.map(async path => ({ path, keptAt: await keptAt(path) })))
    return all.filter(({ path }) => !used.has(path))
  }
  const drop = async (path: string): Promise<void> => {
    // Somebody has come for it meanwhile.
    if (used.has(path)) return
    const trash = join(root, `unused-${crypto.randomUUID()}`)
    // At once, so that no transfer can open it meanwhile.
    renameSync(path, trash)
    await removeTree(root, trash)
  }
  const isOld = ({ keptAt }: { keptAt: number | undefined }): boolean =>
    keptAt !== undefined && keptAt < Date.now() - keptFor
  const dropOld = async (): Promise<void> => {
    for (const one of (await unused()).filter(isOld)) await drop(one.path)
  }
  // What fails is tried again the next time.
  setInterval(() => void dropOld().catch(() => undefined), every).unref()

  return {
    async open(kind, ...name) {
      const folder = join(
        root,
        `${kind}-${createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 32)}`,
      )
      used.add(folder)
      await dropOld()
      await makePrivateFolder(folder)
      await rm(join(folder, mark), { force: true })
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
      await writeFile(join(folder, mark), '', { mode: 0o600 })
      used.delete(folder)
    },
    async removeUnused() {
      for (const one of await unused()) if (one.keptAt === undefined || isOld(one)) await drop(one.path)
    },
    async checkSpace(bytes, elsewhere) {
      const needs = [{ folder: root, bytes }, ...(elsewhere ? [elsewhere] : [])]
      const { dev: own } = await stat(root)
      for (let lack = await lackOf(needs); lack; lack = await lackOf(needs)) {
        const kept = (await unused()).filter(({ keptAt }) => keptAt !== undefined)
        const [oldest] = kept.toSorted((one, other) => one.keptAt! - other.keptAt!)
        if (!oldest || lack.device !== own)
          throw new ServiceError(
            'no-space',
            `This needs ${lack.bytes} bytes, and the disk of this host has ${lack.left} left. Make room, then try again.`,
          )
        await drop(oldest.path)
      }
    },
  }
}
