import { stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from './files.ts'
import { type Access, keyOf, openFile, type OpenFile, placeOf as placeOfOpen } from './open-file.ts'
import { realPathOf } from './real-path.ts'
import { systemReason } from './system-errors.ts'

/** The files and folders of the host that callers may name. Every path of a request goes through here, at each use of it. */
export interface HostFiles {
  /**
   * Opens the regular file that `path` leads to, links followed, and judges what is open. Throws `forbidden` where callers
   * may not name it, and `invalid` for what is not there or is no regular file.
   */
  open(path: string, access?: Access): Promise<OpenFile>
  /**
   * The real path of a folder, which may not be there yet. Throws `forbidden` where callers may not name it, and `invalid` where
   * something else is there.
   */
  folder(path: string): Promise<string>
  /** Whether nobody may reach a real path, whatever is allowed: by its name alone. */
  isProtected(real: string): boolean
  /** Whether a file is a protected one under another name. */
  isProtectedFile(found: { readonly dev: bigint; readonly ino: bigint }): Promise<boolean>
}

interface Options {
  /** Folders that callers may name, with all below them; or any. */
  readonly allowed: readonly string[] | 'any'
  /** Folders that nobody may name, with all below them, whatever is allowed. */
  readonly folders: readonly string[]
  /** Folders inside of those that may be named where they are allowed. */
  readonly except: readonly string[]
  /** The files that nobody may name, by whatever name of theirs, as they are now. */
  readonly files: () => readonly string[]
}

/** Milliseconds for which it is known which files are protected: who reads many objects asks for each. */
const keptFor = 1_000

/** Where the system shows devices, processes and sockets as files. */
const systemFolders = ['/proc', '/sys', '/dev', '/run']

const keyAt = async (path: string): Promise<string | undefined> =>
  stat(path, { bigint: true }).then(keyOf, () => undefined)

const keysOf = async (paths: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await Promise.all(paths.map(keyAt))).filter(key => key !== undefined))

const realPathsOf = (paths: readonly string[]): Promise<readonly string[]> =>
  Promise.all(paths.map(path => realPathOf(path).catch(() => path)))

/**
 * Refuses a file with more than one name (hard links): it may be one of the service, of a machine or of somebody else, to which
 * a guest would write, and no path tells. A copy costs less than to look through all folders for its other names.
 */
const refuseOtherNames = ({ path, names }: OpenFile): void => {
  if (names > 1)
    throw new ServiceError(
      'forbidden',
      `${path} has ${names} names (hard links), so it may be a file of somebody else. Put a copy of it there, and name that.`,
    )
}

/** A path, then all folders around it, the nearest first. */
const wayUp = (path: string): string[] => (dirname(path) === path ? [path] : [path, ...wayUp(dirname(path))])

/** Opens the guard. Protected folders are known by name and by identity, so that neither a link nor a mount hides one. */
export const openHostFiles = async (options: Options): Promise<HostFiles> => {
  const folders = [...systemFolders, ...options.folders]
  const [refused, except] = await Promise.all([realPathsOf(folders), realPathsOf(options.except)])
  const allowed = options.allowed === 'any' ? 'any' : await realPathsOf(options.allowed)

  /** What the nearest of the folders around a path says that says something. */
  const isProtected = (real: string): boolean => {
    const decides = wayUp(real).find(path => except.includes(path) || refused.includes(path))
    return decides !== undefined && refused.includes(decides)
  }
  /** The same, also where a mount or a spelling gives a folder another name. */
  const isProtectedByIdentity = async (real: string): Promise<boolean> => {
    const [closed, open] = await Promise.all([keysOf(folders), keysOf(except)])
    const way = wayUp(real)
    const keys = await Promise.all(way.map(keyAt))
    for (const [at, path] of way.entries()) {
      const key = keys[at] ?? ''
      if (except.includes(path) || open.has(key)) return false
      if (refused.includes(path) || closed.has(key)) return true
    }
    return false
  }
  const look = () => ({ keys: keysOf(options.files()), until: performance.now() + keptFor })
  let known: ReturnType<typeof look> | undefined
  const isProtectedFile: HostFiles['isProtectedFile'] = async found => {
    if (!known || known.until < performance.now()) known = look()
    if (!(await known.keys).has(keyOf(found))) return false
    // A file of the service that was replaced since may have left its number to this one, which is another's.
    known = look()
    return (await known.keys).has(keyOf(found))
  }

  const refuseProtected = (path: string): never => {
    throw new ServiceError(
      'forbidden',
      `${path} belongs to the service or to the system, and nobody may name that, whatever is allowed.`,
    )
  }
  /** Where a path leads. What is outside is refused whether it is there or not, so that nobody learns that. */
  const placeOf = async (path: string): Promise<string> => {
    if (!isAbsolute(path) || path.includes('\0'))
      throw new ServiceError('invalid', `${JSON.stringify(path)} is not an absolute path.`)
    const real = await realPathOf(path).catch((error: unknown) => {
      if (allowed !== 'any') return '/'
      throw new ServiceError('invalid', `${path} cannot be used: ${systemReason(error)}.`, { cause: error })
    })
    if (allowed !== 'any' && !allowed.some(root => real === root || isInside(root, real)))
      throw new ServiceError(
        'forbidden',
        `${path} is outside the folders that may be named, ${allowed.join(', ')}. Put it there, or have the setting allowed_folders name its folder.`,
      )
    if (isProtected(real)) refuseProtected(path)
    return real
  }

  return {
    isProtected,
    isProtectedFile,
    async folder(path) {
      const real = await placeOf(path)
      if (await isProtectedByIdentity(real)) refuseProtected(path)
      const found = await stat(real).catch(() => undefined)
      if (found && !found.isDirectory()) throw new ServiceError('invalid', `${path} is not a folder.`)
      return real
    },
    async open(path, access = 'read') {
      const real = await placeOf(path)
      const file = await openFile(real, access)
      try {
        // A folder on the way may have become a link since then.
        if ((await placeOfOpen(file.handle, real)) !== real)
          throw new ServiceError('invalid', `${path} was replaced while it was opened; try again.`)
        if ((await isProtectedByIdentity(real)) || (await keysOf(options.files())).has(file.key)) refuseProtected(path)
        refuseOtherNames(file)
        return file
      } catch (error) {
        await file[Symbol.asyncDispose]()
        throw error
      }
    },
  }
}
