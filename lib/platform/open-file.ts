import { constants, createWriteStream } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ServiceError } from '#lib/errors.ts'
import { assertSize, maxRecordSize } from './bounded-file.ts'
import { isSystemError } from './files.ts'
import { describeSystemError } from './system-errors.ts'

/** An open regular file. Disposing of it closes the file. */
export interface OpenFile extends AsyncDisposable {
  /** Absolute. */
  readonly path: string
  /** A path by which this process reaches the open file even if another file has taken its place at `path`. */
  readonly descriptorPath: string
  readonly handle: FileHandle
  /** Bytes. */
  readonly size: number
  readonly modifiedAt: Date
  /** Device and inode. They identify the file among all files of the host, by whatever name somebody opened it. */
  readonly identity: string
  readonly inode: string
  /** The time of its creation in nanoseconds since 1970; undefined if the file system does not record it. */
  readonly birthTime: string | undefined
  /** The number of its names (hard links). */
  readonly linkCount: number
}

/** `write` opens a file for reading too. */
export type Access = 'read' | 'write'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/** Returns device and inode, which identify a file or folder. */
export const getFileIdentity = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`

/** Returns a path by which this process reaches an open file or folder even if another one has taken its place at `path`. */
export const getDescriptorPath = ({ fd }: FileHandle, path: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${fd}` : path

/**
 * Returns the real path of an open file. Only Linux knows it. Other systems return the real path of whatever is at `path` now.
 */
export const resolveOpenPath = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(getDescriptorPath(handle, path)) : realpath(path)

const createUnusableError = (path: string, why: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid', `${path} cannot be used: ${why}`, { cause })

/**
 * Opens the regular file at an absolute path that is no link. It never blocks on the other end of a pipe or on a device.
 * Throws `invalid` when the file does not exist, cannot be opened, or is not a regular file.
 */
export const openFile = async (path: string, access: Access = 'read'): Promise<OpenFile> => {
  const refuse = (error: unknown): never => {
    throw createUnusableError(path, `${describeSystemError(error)}. Put the file there, or correct the path.`, error)
  }
  // Checked before the file is opened, because some devices act when somebody opens them.
  if (!(await lstat(path).catch(refuse)).isFile()) throw createUnusableError(path, 'it is not a regular file.')
  const flags = (access === 'write' ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
  const handle = await open(path, flags).catch(refuse)
  try {
    // `stat` with and without bigint round times differently. Other code compares `mtime` with times from the call without it.
    const [stats, { mtime }] = await Promise.all([handle.stat({ bigint: true }), handle.stat()])
    // Another file may have taken its place since the check above.
    if (!stats.isFile()) throw createUnusableError(path, 'it is not a regular file.')
    return {
      path,
      descriptorPath: getDescriptorPath(handle, path),
      handle,
      size: Number(stats.size),
      modifiedAt: mtime,
      identity: getFileIdentity(stats),
      inode: String(stats.ino),
      birthTime: stats.birthtimeNs > 0n ? String(stats.birthtimeNs) : undefined,
      linkCount: Number(stats.nlink),
      [Symbol.asyncDispose]: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Reads a small file of the service's own state. Follows no link and never blocks on the other end of a pipe. Makes few system
 * calls, because a start reads thousands of such files. Returns undefined if the file does not exist. Throws if it is not a regular
 * file, or has more than `maxBytes`.
 */
export const readStateFile = async (path: string, maxBytes = maxRecordSize): Promise<string | undefined> => {
  let handle: FileHandle
  try {
    handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw createUnusableError(path, `${describeSystemError(error)}.`, error)
  }
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw createUnusableError(path, 'it is not a regular file.')
    assertSize(path, stats.size, maxBytes)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** Copies an open file to the new file `to`. Throws the reason of the signal when it aborts. */
export const copyOpenFile = async ({ handle, size }: OpenFile, to: string, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  const from = handle.createReadStream({ autoClose: false, start: 0, end: Math.max(size - 1, 0) })
  try {
    await pipeline(from, createWriteStream(to, { flags: 'wx', mode: 0o600 }), { signal })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** The first descriptor of a child process after its three standard ones. */
export const firstInherited = 3

/** Returns the path by which a child process reaches an open file that it inherits. `index` is the index in the list of inherited files. */
export const getInheritedPath = ({ path }: Pick<OpenFile, 'path'>, index: number): string =>
  process.platform === 'linux' ? `/proc/self/fd/${firstInherited + index}` : path
