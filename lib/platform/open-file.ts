import { constants, createWriteStream } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ServiceError } from '#lib/errors.ts'
import { isSystemError } from './files.ts'
import { systemReason } from './system-errors.ts'

/** A regular file that is open. Disposing closes it. */
export interface OpenFile extends AsyncDisposable {
  /** Absolute. */
  readonly path: string
  /** A path by which this process reaches the file that is open, whatever lies at `path` by now. */
  readonly through: string
  readonly handle: FileHandle
  /** Bytes. */
  readonly size: number
  readonly modifiedAt: Date
  /** Tells it from every other file of the host, whatever their names are. */
  readonly key: string
  readonly inode: string
  /** When the file was made, in nanoseconds since 1970; undefined where the file system does not know. */
  readonly birthTime: string | undefined
  /** How many names (hard links) it has. */
  readonly names: number
}

/** `write` opens for reading too. */
export type Access = 'read' | 'write'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/** Device and inode: the identity of a file or folder. */
export const keyOf = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`

/** A path by which this process reaches what is open, whatever lies at its `path` by now. */
export const throughOf = ({ fd }: FileHandle, path: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${fd}` : path

/** Where what is open lies. Only Linux tells that of the open file; elsewhere it is what lies at its `path` by now. */
export const placeOf = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(throughOf(handle, path)) : realpath(path)

const unusable = (path: string, why: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid', `${path} cannot be used: ${why}`, { cause })

/**
 * Opens the regular file `path`, which is absolute and no link. It waits for nobody: not for the other end of a pipe, nor
 * for a device. Throws `invalid` for what is not there, cannot be opened, or is no regular file.
 */
export const openFile = async (path: string, access: Access = 'read'): Promise<OpenFile> => {
  const refuse = (error: unknown): never => {
    throw unusable(path, `${systemReason(error)}. Put the file there, or correct the path.`, error)
  }
  // Before it is opened: some devices act when somebody opens them.
  if (!(await lstat(path).catch(refuse)).isFile()) throw unusable(path, 'it is not a regular file.')
  const flags = (access === 'write' ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
  const handle = await open(path, flags).catch(refuse)
  try {
    // Times of the two kinds of answers are rounded in different ways; everybody else reads this one.
    const [found, { mtime }] = await Promise.all([handle.stat({ bigint: true }), handle.stat()])
    // Something else may have taken its place meanwhile.
    if (!found.isFile()) throw unusable(path, 'it is not a regular file.')
    return {
      path,
      through: throughOf(handle, path),
      handle,
      size: Number(found.size),
      modifiedAt: mtime,
      key: keyOf(found),
      inode: String(found.ino),
      birthTime: found.birthtimeNs > 0n ? String(found.birthtimeNs) : undefined,
      names: Number(found.nlink),
      [Symbol.asyncDispose]: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Reads a small file of the service's own state. It follows no link and waits for no other end of a pipe, and costs three
 * calls of the system, because a start reads thousands. Returns undefined if nothing lies at `path`. Throws for what is no
 * regular file.
 */
export const readStateFile = async (path: string): Promise<string | undefined> => {
  let handle: FileHandle
  try {
    handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw unusable(path, `${systemReason(error)}.`, error)
  }
  try {
    if (!(await handle.stat()).isFile()) throw unusable(path, 'it is not a regular file.')
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** Copies an open file to the new file `to`; ends with the signal's reason, also in the middle. */
export const copyOpenFile = async ({ handle, size }: OpenFile, to: string, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  const from = handle.createReadStream({ autoClose: false, start: 0, end: Math.max(size - 1, 0) })
  try {
    await pipeline(from, createWriteStream(to, { flags: 'wx', mode: 0o600 }), { signal })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** The first descriptor of a child process that is not one of its three standard ones. */
export const firstInherited = 3

/** The path by which a child process reaches the open file that it inherits as the one number `at` of a list. */
export const inheritedPath = ({ path }: Pick<OpenFile, 'path'>, at: number): string =>
  process.platform === 'linux' ? `/proc/self/fd/${firstInherited + at}` : path
