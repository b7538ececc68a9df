import { stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from './files.ts'
import { type Access, getFileIdentity, openFile, type OpenFile, resolveOpenPath } from './open-file.ts'
import { openFolder, type OpenFolder } from './open-folder.ts'
import { resolveRealPath } from './real-path.ts'
import { describeSystemError } from './system-errors.ts'

/** The files and folders of the host that callers may name. The service checks every path of a request here, each time it uses the path. */
export interface HostFiles {
  /**
   * Opens the regular file that `path` leads to, follows links, and checks the open file. Throws `forbidden` when callers may not
   * name it, and `invalid` when it does not exist or is not a regular file.
   */
  open(path: string, access?: Access): Promise<OpenFile>
  /**
   * Returns the real path of a folder that may not exist yet. Throws `forbidden` when callers may not name it, and `invalid` when
   * it is not a folder.
   */
  folder(path: string): Promise<string>
  /** Opens the folder that `path` leads to, and checks the open folder as `open` does with a file. Throws as `open` does. */
  openFolder(path: string): Promise<OpenFolder>
  /** True if the name of a real path makes it protected: nobody may name it, whatever is allowed. */
  isProtected(real: string): boolean
  /** True if a file is protected, by whatever name somebody opened it. */
  isProtectedFile(file: { readonly dev: bigint; readonly ino: bigint }): Promise<boolean>
}

interface Options {
  /** Folders that callers may name, with everything in them; or `any` folder. */
  readonly allowed: readonly string[] | 'any'
  /** Folders that nobody may name, with everything in them, whatever is allowed. */
  readonly folders: readonly string[]
  /** Folders inside of `folders` that callers may name if they are allowed. */
  readonly except: readonly string[]
  /** Returns the present files that nobody may name, by any of their names. */
  readonly files: () => readonly string[]
}

/** Milliseconds for which the identities of protected files are cached, because a read of many objects checks each of them. */
const cacheTime = 1_000

/** Folders in which the system shows devices, processes and sockets as files. */
const systemFolders = ['/proc', '/sys', '/dev', '/run']

const findIdentity = async (path: string): Promise<string | undefined> =>
  stat(path, { bigint: true }).then(getFileIdentity, () => undefined)

const findIdentities = async (paths: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await Promise.all(paths.map(findIdentity))).filter(identity => identity !== undefined))

const resolveRealPaths = (paths: readonly string[]): Promise<readonly string[]> =>
  Promise.all(paths.map(path => resolveRealPath(path).catch(() => path)))

/**
 * Refuses a file with more than one name (hard links). Its other names may belong to the service, to a machine or to somebody
 * else, and a guest would write to their file. A search of all folders for these names would cost more than a copy of the file.
 */
const refuseOtherNames = ({ path, linkCount }: OpenFile): void => {
  if (linkCount > 1)
    throw new ServiceError(
      'forbidden',
      `${path} has ${linkCount} names (hard links), so it may be a file of somebody else. Put a copy of it there, and name that.`,
    )
}

/** Lists a path and all folders that contain it, the nearest first. */
const listAncestors = (path: string): string[] =>
  dirname(path) === path ? [path] : [path, ...listAncestors(dirname(path))]

/** Creates the checks. They recognize protected folders by name and by identity, so that neither a link nor a mount hides one. */
export const openHostFiles = async (options: Options): Promise<HostFiles> => {
  const folders = [...systemFolders, ...options.folders]
  const [protectedPaths, exceptPaths] = await Promise.all([resolveRealPaths(folders), resolveRealPaths(options.except)])
  const allowed = options.allowed === 'any' ? 'any' : await resolveRealPaths(options.allowed)

  /** The nearest folder that is protected or excepted decides. */
  const isProtected = (real: string): boolean => {
    const deciding = listAncestors(real).find(path => exceptPaths.includes(path) || protectedPaths.includes(path))
    return deciding !== undefined && protectedPaths.includes(deciding)
  }
  /** Decides as `isProtected` does, also when a mount or another spelling gives a folder a second name. */
  const isProtectedByIdentity = async (real: string): Promise<boolean> => {
    const [protectedIds, exceptIds] = await Promise.all([findIdentities(folders), findIdentities(exceptPaths)])
    const ancestors = listAncestors(real)
    const identities = await Promise.all(ancestors.map(findIdentity))
    for (const [index, path] of ancestors.entries()) {
      const identity = identities[index] ?? ''
      if (exceptPaths.includes(path) || exceptIds.has(identity)) return false
      if (protectedPaths.includes(path) || protectedIds.has(identity)) return true
    }
    return false
  }
  const findProtectedFiles = () => ({
    identities: findIdentities(options.files()),
    until: performance.now() + cacheTime,
  })
  let cached: ReturnType<typeof findProtectedFiles> | undefined
  const isProtectedFile: HostFiles['isProtectedFile'] = async file => {
    if (!cached || cached.until < performance.now()) cached = findProtectedFiles()
    if (!(await cached.identities).has(getFileIdentity(file))) return false
    // The service may have replaced its file since then, and the file system may have given the old inode to this file.
    cached = findProtectedFiles()
    return (await cached.identities).has(getFileIdentity(file))
  }

  const refuseProtected = (path: string): never => {
    throw new ServiceError(
      'forbidden',
      `${path} belongs to the service or to the system. No request may name it, whatever is allowed.`,
    )
  }
  /** Resolves a path that callers may name. The error for a path outside does not show whether anything exists there. */
  const resolveAllowed = async (path: string): Promise<string> => {
    if (!isAbsolute(path) || path.includes('\0'))
      throw new ServiceError('invalid', `${JSON.stringify(path)} is not an absolute path.`)
    const real = await resolveRealPath(path).catch((error: unknown) => {
      if (allowed !== 'any') return '/'
      throw new ServiceError('invalid', `${path} cannot be used: ${describeSystemError(error)}.`, { cause: error })
    })
    if (allowed !== 'any' && !allowed.some(root => real === root || isInside(root, real)))
      throw new ServiceError(
        'forbidden',
        `${path} is outside the folders that requests may name: ${allowed.join(', ')}. Move it there, or add its folder to the setting allowed_folders.`,
      )
    if (isProtected(real)) refuseProtected(path)
    return real
  }

  return {
    isProtected,
    isProtectedFile,
    async folder(path) {
      const real = await resolveAllowed(path)
      if (await isProtectedByIdentity(real)) refuseProtected(path)
      const stats = await stat(real).catch(() => undefined)
      if (stats && !stats.isDirectory()) throw new ServiceError('invalid', `${path} is not a folder.`)
      return real
    },
    async openFolder(path) {
      const real = await resolveAllowed(path)
      const folder = await openFolder(real).catch((error: unknown) => {
        throw new ServiceError(
          'invalid',
          `${path} cannot be used: ${describeSystemError(error)}. Make the folder, or correct the path.`,
          { cause: error },
        )
      })
      try {
        if (folder.path !== real)
          throw new ServiceError('invalid', `${path} was replaced while it was opened; try again.`)
        if (await isProtectedByIdentity(real)) refuseProtected(path)
        const inside = [...protectedPaths, ...options.files()].find(other => isInside(real, other))
        if (inside !== undefined)
          throw new ServiceError(
            'forbidden',
            `${path} contains ${inside}, which belongs to the service or to the system. Name a folder without it.`,
          )
        return folder
      } catch (error) {
        await folder[Symbol.asyncDispose]()
        throw error
      }
    },
    async open(path, access = 'read') {
      const real = await resolveAllowed(path)
      const file = await openFile(real, access)
      try {
        // A folder in the path may have become a link since the path was resolved.
        if ((await resolveOpenPath(file.handle, real)) !== real)
          throw new ServiceError('invalid', `${path} was replaced while it was opened; try again.`)
        if ((await isProtectedByIdentity(real)) || (await findIdentities(options.files())).has(file.identity))
          refuseProtected(path)
        refuseOtherNames(file)
        return file
      } catch (error) {
        await file[Symbol.asyncDispose]()
        throw error
      }
    },
  }
}
