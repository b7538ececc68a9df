import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { randomUUID } from 'node:crypto'

/** Makes what was written to the file `path` survive a power cut. */
export const syncFile = async (path: string): Promise<void> => {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** Makes what was renamed or created in `folder` survive a power cut. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Replaces `path` by `data`: readers see the old or the new content, never a mixture, also after a power cut.
 * The file is readable by its owner only.
 */
export const writeFileAtomic = async (path: string, data: string | Uint8Array, mode = 0o600): Promise<void> => {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}`)
  const handle = await open(temporary, 'wx', mode)
  try {
    try {
      await handle.writeFile(data)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/**
 * A folder that only its owner can enter; made with its parents when missing. One after the other: Node's own way does not
 * come back where the system makes no folders and says that the one above is missing, as in /proc. Throws what the system
 * refuses with.
 */
export const makePrivateFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (isSystemError(error, 'EEXIST') && (await stat(path)).isDirectory()) return
    const parent = dirname(path)
    if (!isSystemError(error, 'ENOENT') || parent === path || (await exists(parent))) throw error
    await makePrivateFolder(parent)
    await mkdir(path, { mode: 0o700 })
  }
}

/** Deletes what `writeFileAtomic` left in a folder when it was killed. Nobody else may be writing there. */
export const removeUnfinished = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return []
    throw error
  })
  for (const name of names)
    if (/^\..+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)) await rm(join(folder, name), { force: true })
}

/** Renames and makes the new name survive a power cut. */
export const renameSynced = async (from: string, to: string): Promise<void> => {
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** Deletes a folder with all that is in it. The only recursive delete of the project: `path` must be inside `root`. */
export const removeTree = async (root: string, path: string): Promise<void> => {
  if (!isInside(root, path)) throw new Error(`${path} is not inside ${root}, so it is not deleted`)
  await rm(path, { recursive: true, force: true })
}

/** Whether `path` lies below `root` (and is not `root` itself). Both absolute; links are not followed. */
export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}

/** Whether something exists at `path`. */
export const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Whether `error` is the operating system's error of this code (`ENOENT`, …). */
export const isSystemError = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** Whether the system says that there is no room left on a disk, or for its user. */
export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].some(code => isSystemError(error, code))

/** Writes all bytes at a place of a file: of what does not fit any more the system may write a part without an error. */
export const writeAll = async (file: FileHandle, bytes: Uint8Array, position: number): Promise<void> => {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
}
