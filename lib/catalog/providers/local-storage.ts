import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, opendir, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { isFault, ServiceError } from '#lib/errors.ts'
import { isInside, isSystemError, renameSynced, syncFile, syncFolder } from '#lib/platform/files.ts'
import { realPathOf } from '#lib/platform/real-path.ts'
import { localFailure, withLocal } from './local-failures.ts'
import { gone, partOf, sweepParts } from './local-parts.ts'
import { hidden, segmentsOf } from './object-path.ts'
import type { ObjectStat, Provider, Source, WriteOptions } from './provider.ts'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants

/** Bytes between two moments at which what is written is made to stay. */
const step = 16 * 1024 * 1024

/** Bytes read at once: each time is a way to another thread and back, and whoever takes their time holds two of them. */
const readSize = 1024 * 1024

/** The files that are being written, by whichever provider: two may be open on one folder. */
const writing = new Set<string>()

const notFound = (path: string): ServiceError => new ServiceError('not-found', `There is no object ${path}.`)

/** Where a file can have no second name. */
const cannotLink = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Gives a file another name, in place of what has that. False where that cannot be. */
const linkTo = async (file: string, name: string): Promise<boolean> => {
  await rm(name, { force: true })
  try {
    await link(file, name)
    await syncFile(name)
    return true
  } catch (error) {
    if (cannotLink.some(code => isSystemError(error, code))) return false
    throw error
  }
}

interface Options {
  /** Says of a real path that it is none of the storage, although it is below the folder. */
  readonly except: (path: string) => boolean
  /** Whether the folder is made at once; else by what is written first, so that who only reads leaves none. */
  readonly make: boolean
}

const noneWhenGone = (error: unknown): undefined => {
  if (isFault(error, 'not-found')) return undefined
  throw error
}

/** Keeps objects as files below a folder of this host. */
export const createLocalStorage = async (
  folder: string,
  { except, make: makeRoot }: Options = { except: () => false, make: true },
): Promise<Provider> => {
  const root = await withLocal(folder, async () => {
    if (makeRoot) await mkdir(folder, { recursive: true, mode: 0o700 })
    return realPathOf(folder)
  })

  /** Refuses a real path that is not of this storage. */
  const checkInside = (path: string, real: string): void => {
    if ((real !== root && !isInside(root, real)) || except(real))
      throw new ServiceError('forbidden', `${path} leads out of the catalog.`)
  }
  /** The file of an object; a link may not lead out of the root. */
  const fileOf = async (path: string, make = false): Promise<string> => {
    const file = join(root, ...segmentsOf(path))
    const parent = dirname(file)
    if (make) {
      checkInside(path, await realPathOf(parent))
      await mkdir(parent, { recursive: true, mode: 0o700 })
    }
    const real = await realpath(parent).catch((error: unknown) => {
      throw gone(error) ? notFound(path) : error
    })
    checkInside(path, join(real, basename(file)))
    return join(real, basename(file))
  }
  const look = async (path: string): Promise<{ file: string; size: number; modifiedAt: string } | undefined> => {
    try {
      const file = await fileOf(path)
      const real = await realpath(file)
      checkInside(path, real)
      const found = await stat(real)
      return found.isFile() ? { file: real, size: found.size, modifiedAt: found.mtime.toISOString() } : undefined
    } catch (error) {
      if (gone(error) || isFault(error, 'not-found')) return undefined
      throw error
    }
  }

  /** Removes a folder that nothing is in any more, and those around it. */
  const removeEmpty = async (folder: string): Promise<void> => {
    if (folder === root || !isInside(root, folder)) return
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (removed) await removeEmpty(dirname(folder))
  }

  /** Writes the rest of a source behind what an earlier try has left, and gives the digest of the whole. */
  const fill = async (part: string, source: Source, { signal, sha256, onProgress }: WriteOptions): Promise<string> => {
    const { size, read, file: same } = source
    if (same !== undefined && sha256 !== undefined && (await linkTo(same, part))) {
      onProgress?.(size)
      return sha256
    }
    // Never by a link, which could lead anywhere.
    await using file = await open(part, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
    const digest = createHash('sha256')
    let done = (await file.stat()).size
    if (done > size) {
      await file.truncate(0)
      done = 0
    }
    if (done > 0)
      for await (const chunk of file.createReadStream({ start: 0, end: done - 1, autoClose: false }))
        digest.update(chunk as Buffer)
    onProgress?.(done)
    let synced = done
    if (done < size)
      for await (const chunk of read({ start: done, end: size })) {
        signal?.throwIfAborted()
        await file.appendFile(chunk)
        digest.update(chunk)
        done += chunk.byteLength
        if (done - synced >= step) {
          await file.datasync()
          synced = done
        }
        onProgress?.(done)
      }
    if (done !== size)
      throw new ServiceError('upstream', `Of ${size} bytes ${done} came; what came is kept, send it again to go on.`)
    await file.sync()
    return digest.digest('hex')
  }

  return {
    type: 'local-storage',
    async stat(path) {
      const found = await withLocal(path, () => look(path))
      return found && { path, size: found.size, modifiedAt: found.modifiedAt }
    },
    async read(path, { range, signal } = {}) {
      const found = await withLocal(path, () => look(path))
      if (!found) throw notFound(path)
      if (range && (range.start < 0 || range.start >= range.end || range.end > found.size))
        throw new ServiceError(
          'invalid',
          `${path} has ${found.size} bytes, and none from ${range.start} to ${range.end}.`,
        )
      const file = await open(found.file, O_RDONLY | O_NOFOLLOW).catch((error: unknown) => {
        // It was removed meanwhile.
        throw gone(error) ? notFound(path) : localFailure(path, error)
      })
      const bounds = range && { start: range.start, end: range.end - 1 }
      return Readable.toWeb(
        file.createReadStream({ ...bounds, highWaterMark: readSize, ...(signal && { signal }) }),
      ) as ReadableStream<Uint8Array>
    },
    async write(path, source, options = {}) {
      const target = await withLocal(path, () => fileOf(path, true))
      if (writing.has(target)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(target)
      const { sha256 } = options
      const part = partOf(target, sha256)
      try {
        const digest = await fill(part, source, options).catch(async (error: unknown) => {
          // Its folder was empty, and was removed together with what was in it last.
          if (!isSystemError(error, 'ENOENT')) throw error
          await fileOf(path, true)
          return fill(part, source, options)
        })
        if (sha256 !== undefined && digest !== sha256) {
          await rm(part, { force: true })
          throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
        }
        await renameSynced(part, target)
        // Two names of one file stay when one is renamed to the other.
        await rm(part, { force: true })
        await sweepParts(target)
      } catch (error) {
        if (sha256 === undefined) await rm(part, { force: true })
        throw localFailure(path, error)
      } finally {
        writing.delete(target)
      }
    },
    async *list(folderPath, signal): AsyncGenerator<ObjectStat> {
      const start = folderPath === '' ? root : await fileOf(folderPath).catch(noneWhenGone)
      if (start === undefined) return
      const names = async function* (at: string, path: string): AsyncGenerator<string> {
        const entries = await opendir(at).catch((error: unknown) => {
          if (gone(error)) return undefined
          throw error
        })
        if (!entries) return
        for await (const entry of entries) {
          signal?.throwIfAborted()
          if (entry.name.startsWith(hidden)) continue
          const name = path === '' ? entry.name : `${path}/${entry.name}`
          if (except(join(at, entry.name))) continue
          if (entry.isDirectory()) yield* names(join(at, entry.name), name)
          else if (entry.isFile()) yield name
        }
      }
      for await (const path of names(start, folderPath)) {
        const found = await look(path)
        if (found) yield { path, size: found.size, modifiedAt: found.modifiedAt }
      }
    },
    async remove(path) {
      const file = await fileOf(path).catch(noneWhenGone)
      if (file === undefined) return
      await withLocal(path, async () => {
        await rm(file, { force: true })
        if (!writing.has(file)) await sweepParts(file)
        await syncFolder(dirname(file))
      })
      await removeEmpty(dirname(file))
    },
  }
}
