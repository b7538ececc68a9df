import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, opendir, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { isFault, ServiceError } from '#lib/errors.ts'
import { isInside, isSystemError, renameSynced, syncFile, syncFolder } from '#lib/platform/files.ts'
import { resolveOpenPath } from '#lib/platform/open-file.ts'
import type { OpenFolder } from '#lib/platform/open-folder.ts'
import { resolveRealPath } from '#lib/platform/real-path.ts'
import { checkDigest } from '../port/guard-writes.ts'
import { checkVersion } from '../port/check-version.ts'
import { toStorageError, withStorageErrors } from './storage-errors.ts'
import { openFolderInside } from './folders.ts'
import { isRemovable, assertReplaceable } from './file-kinds.ts'
import { isMissingFile, getPartialName, cleanUpPartialFiles } from './partial-files.ts'
import { hiddenPrefix, splitObjectPath } from '../port/object-path.ts'
import type { ObjectStat, Provider, Source, WriteOptions } from '../port/provider.ts'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/** Bytes that are written between two syncs. */
const syncInterval = 16 * 1024 * 1024

/** Bytes per read: each read costs a switch to another thread, and a slow reader holds two buffers of this size. */
const readSize = 1024 * 1024

const createNotFoundError = (path: string): ServiceError => new ServiceError('not-found', `There is no object ${path}.`)

/** Errors of file systems or files that cannot have a hard link. */
const hardLinkUnsupported = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Makes `name` a hard link to a file, replacing what has that name. Gives false when the file system cannot do that. */
const createHardLink = async (file: string, name: string): Promise<boolean> => {
  await rm(name, { force: true })
  try {
    await link(file, name)
    await syncFile(file)
    return true
  } catch (error) {
    if (hardLinkUnsupported.some(code => isSystemError(error, code))) return false
    throw error
  }
}

interface Options {
  /** Whether a real path below the folder is not in the storage. */
  readonly isExcluded: (path: string) => boolean
  /** Whether a file belongs to the service and not to the storage, whatever its name is. */
  readonly isServiceFile: (found: { readonly dev: bigint; readonly ino: bigint }) => Promise<boolean>
  /** Whether the folder is created now; else by the first write, so that reading creates none. */
  readonly create: boolean
}

const ignoreNotFound = (error: unknown): undefined => {
  if (isFault(error, 'not-found')) return undefined
  throw error
}

/** Stores objects as files below a folder of this host. Throws `forbidden` for a folder that the storage may not use. */
export const createLocalStorage = async (
  folder: string,
  { isExcluded, isServiceFile, create: createRoot }: Options = {
    isExcluded: () => false,
    isServiceFile: async () => false,
    create: true,
  },
): Promise<Provider> => {
  const root = await withStorageErrors(folder, async () => {
    if (createRoot) await mkdir(folder, { recursive: true, mode: 0o700 })
    return resolveRealPath(folder)
  })

  /** Throws `forbidden` for a real path that is not in this storage. */
  const assertInside = (path: string, real: string): void => {
    if ((real !== root && !isInside(root, real)) || isExcluded(real))
      throw new ServiceError('forbidden', `${path} leads out of the catalog.`)
  }
  assertInside(folder, root)

  /** Throws `forbidden` for a file of the service that has a name in this storage. */
  const assertNotServiceFile = async (
    path: string,
    found: { readonly dev: bigint; readonly ino: bigint },
  ): Promise<void> => {
    if (await isServiceFile(found))
      throw new ServiceError('forbidden', `${path} is a file of the service, and not of the catalog.`)
  }
  /** Opens the folder of an object. Throws `not-found` when it is missing and `create` is false. */
  const openParent = (path: string, create = false): Promise<OpenFolder> =>
    withStorageErrors(path, async () => {
      const file = join(root, ...splitObjectPath(path))
      const check = (real: string): void => {
        assertInside(path, real)
        assertInside(path, join(real, basename(file)))
      }
      const openFolderOnce = (): Promise<OpenFolder> => openFolderInside(dirname(file), { root, check, create })
      return openFolderOnce().catch((error: unknown) => {
        // An empty folder on the path was removed meanwhile.
        if (create && isSystemError(error, 'ENOENT')) return openFolderOnce()
        throw !create && isMissingFile(error) ? createNotFoundError(path) : error
      })
    })
  /** The path of the file of an object, to check it. Throws `forbidden` when its folder is a link out of the root. */
  const resolveFile = async (path: string): Promise<string> => {
    const file = join(root, ...splitObjectPath(path))
    const parent = dirname(file)
    const real = await realpath(parent).catch((error: unknown) => {
      throw isMissingFile(error) ? createNotFoundError(path) : error
    })
    assertInside(path, join(real, basename(file)))
    return join(real, basename(file))
  }
  const statObject = async (
    path: string,
  ): Promise<{ file: string; size: number; modifiedAt: string; version: string } | undefined> => {
    try {
      const file = await resolveFile(path)
      const real = await realpath(file)
      assertInside(path, real)
      const found = await stat(real, { bigint: true })
      await assertNotServiceFile(path, found)
      return found.isFile()
        ? {
            file: real,
            size: Number(found.size),
            modifiedAt: found.mtime.toISOString(),
            // Each write makes a new file, so the inode changes.
            version: `${found.ino} ${found.mtimeNs} ${found.size}`,
          }
        : undefined
    } catch (error) {
      if (isMissingFile(error) || isFault(error, 'not-found')) return undefined
      throw error
    }
  }

  /** Removes an empty folder, and its parents that become empty. */
  const removeEmpty = async (folder: string): Promise<void> => {
    if (folder === root || !isInside(root, folder)) return
    try {
      await using above = await openFolderInside(dirname(folder), { root, check: real => assertInside(folder, real) })
      await rmdir(above.at(basename(folder)))
    } catch {
      return
    }
    await removeEmpty(dirname(folder))
  }

  /** Appends the rest of a source to the partial file of an earlier write. Gives the SHA-256 of the whole. */
  const fillPartialFile = async (
    partial: string,
    source: Source,
    { signal, sha256, onProgress }: WriteOptions,
  ): Promise<string> => {
    const { size, read, file: sourceFile } = source
    if (sourceFile !== undefined && sha256 !== undefined && (await createHardLink(sourceFile, partial))) {
      onProgress?.(size)
      return sha256
    }
    // O_NOFOLLOW: a link could lead anywhere.
    await using file = await open(partial, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
    const digest = createHash('sha256')
    let written = (await file.stat()).size
    if (written > size) {
      await file.truncate(0)
      written = 0
    }
    if (written > 0)
      for await (const chunk of file.createReadStream({ start: 0, end: written - 1, autoClose: false }))
        // A stream without an encoding gives buffers.
        digest.update(chunk as Buffer)
    onProgress?.(written)
    let synced = written
    if (written < size)
      for await (const chunk of read({ start: written, end: size })) {
        signal?.throwIfAborted()
        await file.appendFile(chunk)
        digest.update(chunk)
        written += chunk.byteLength
        if (written - synced >= syncInterval) {
          await file.datasync()
          synced = written
        }
        onProgress?.(written)
      }
    if (written !== size)
      throw new ServiceError('upstream', `Of ${size} bytes ${written} came; what came is kept, send it again to go on.`)
    await file.sync()
    return digest.digest('hex')
  }

  return {
    type: 'local-storage',
    async stat(path) {
      const found = await withStorageErrors(path, () => statObject(path))
      return found && { path, size: found.size, modifiedAt: found.modifiedAt, version: found.version }
    },
    async read(path, { range, signal } = {}) {
      const found = await withStorageErrors(path, () => statObject(path))
      if (!found) throw createNotFoundError(path)
      if (range && (range.start < 0 || range.start >= range.end || range.end > found.size))
        throw new ServiceError(
          'invalid',
          `${path} has ${found.size} bytes, and none from ${range.start} to ${range.end}.`,
        )
      const file = await open(found.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
        // It was removed meanwhile.
        throw isMissingFile(error) ? createNotFoundError(path) : toStorageError(path, error)
      })
      await using opened = new AsyncDisposableStack()
      opened.use(file)
      // The open file is checked again: another file may have replaced it, or a folder on its path may have become a link.
      await withStorageErrors(path, async () => {
        const now = await file.stat({ bigint: true })
        assertInside(path, await resolveOpenPath(file, found.file))
        await assertNotServiceFile(path, now)
        if (!now.isFile()) throw createNotFoundError(path)
      })
      // From here on the stream closes the file.
      opened.move()
      const bounds = range && { start: range.start, end: range.end - 1 }
      // Node and the DOM have one stream and two types of it.
      return Readable.toWeb(
        file.createReadStream({ ...bounds, highWaterMark: readSize, ...(signal && { signal }) }),
      ) as ReadableStream<Uint8Array>
    },
    async write(path, source, options = {}) {
      await using opened = new AsyncDisposableStack()
      let folder = opened.use(await openParent(path, true))
      const name = basename(path)
      const { sha256 } = options
      const partial = getPartialName(name, sha256)
      try {
        const digest = await fillPartialFile(folder.at(partial), source, options).catch(async (error: unknown) => {
          // The folder was empty and was removed together with its last object.
          if (!isSystemError(error, 'ENOENT')) throw error
          folder = opened.use(await openParent(path, true))
          return fillPartialFile(folder.at(partial), source, options)
        })
        if (sha256 !== undefined && digest !== sha256) await rm(folder.at(partial), { force: true })
        checkDigest(path, digest, sha256)
        if (options.replaces !== undefined) checkVersion(path, await statObject(path), options)
        await assertReplaceable(path, folder.at(name))
        await renameSynced(folder.at(partial), folder.at(name))
        // Renaming a hard link to another name of the same file leaves both names.
        await rm(folder.at(partial), { force: true })
        await cleanUpPartialFiles(folder.at(name))
      } catch (error) {
        if (sha256 === undefined) await rm(folder.at(partial), { force: true })
        throw toStorageError(path, error)
      }
    },
    async *list(folderPath, signal): AsyncGenerator<ObjectStat> {
      const start = folderPath === '' ? root : await resolveFile(folderPath).catch(ignoreNotFound)
      if (start === undefined) return
      const names = async function* (at: string, path: string): AsyncGenerator<string> {
        const entries = await opendir(at).catch((error: unknown) => {
          if (isMissingFile(error)) return undefined
          throw error
        })
        if (!entries) return
        for await (const entry of entries) {
          signal?.throwIfAborted()
          if (entry.name.startsWith(hiddenPrefix)) continue
          const name = path === '' ? entry.name : `${path}/${entry.name}`
          if (isExcluded(join(at, entry.name))) continue
          if (entry.isDirectory()) yield* names(join(at, entry.name), name)
          else if (entry.isFile()) yield name
        }
      }
      for await (const path of names(start, folderPath)) {
        const found = await statObject(path)
        if (found) yield { path, size: found.size, modifiedAt: found.modifiedAt }
      }
    },
    async remove(path, _, { keepsUploads } = {}) {
      await using folder = await openParent(path).catch(ignoreNotFound)
      if (folder === undefined) return
      const file = folder.at(basename(path))
      await withStorageErrors(path, async () => {
        // Anything but a file or a link is not an object and is not removed.
        if (await isRemovable(file)) await rm(file, { force: true })
        if (!keepsUploads) await cleanUpPartialFiles(file)
        await syncFolder(dirname(file))
      })
      await removeEmpty(folder.path)
    },
  }
}
