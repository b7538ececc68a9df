import { createHash } from 'node:crypto'
import { open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { ServiceError } from '#lib/errors.ts'
import { isSystemError, makePrivateFolder, writeAll } from '#lib/platform/files.ts'
import type { UploadRange } from './content-range.ts'

/**
 * Files that users upload in ranges, one after the other. An upload belongs to its user. It is removed when nothing has come for
 * a day.
 */
export interface Uploads {
  /** Returns the number of bytes that are there. Throws `not-found` for an upload that has not begun. */
  measure(user: Principal, name: string): Promise<number>
  /**
   * Adds a range, and returns the number of bytes that are there then. A range that begins at 0 begins the upload again. Throws
   * `conflict` for a range that does not follow what is there, `too-large`, `no-space`, and errors of the system.
   */
  write(user: Principal, name: string, range: UploadRange, bytes: Uint8Array): Promise<number>
  /** Moves an upload to another path on the same disk. Throws `not-found`. */
  move(user: Principal, name: string, to: string): Promise<void>
  /** Removes the uploads to which nothing has come for a day. */
  removeOutdated(): Promise<void>
}

/** The most uploads of one user at the same time. */
const maxPerUser = 8
/** Milliseconds for which an upload waits for its next range. */
const retention = 24 * 3_600_000
const cleanUpInterval = 3_600_000

const createAbsentError = (name: string): ServiceError =>
  new ServiceError(
    'not-found',
    `You have uploaded nothing under the name ${name}. Send the file to PUT /api/v1/images/{name}/upload first.`,
  )

interface Options {
  readonly folder: string
  readonly maxBytes: number
  /** Throws `no-space` unless there is room for so many bytes more. */
  readonly checkRoom: (bytes: number) => Promise<void>
}

/** Opens the uploads in a folder. */
export const openUploads = async ({ folder, maxBytes, checkRoom }: Options): Promise<Uploads> => {
  await makePrivateFolder(folder)
  const withLock = createKeyedMutex()
  const getPath = ({ id }: Principal, name: string): string =>
    join(folder, `${id}.${createHash('sha256').update(name.toLowerCase()).digest('hex').slice(0, 32)}`)
  const measureFile = (path: string): Promise<number> =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    )
  const removeOutdated = async (): Promise<void> => {
    for (const file of await readdir(folder)) {
      const path = join(folder, file)
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
      if (mtimeMs < Date.now() - retention) await rm(path, { force: true })
    }
  }
  setInterval(() => void removeOutdated().catch(() => undefined), cleanUpInterval).unref()
  /** Makes the empty file of a new upload, one at a time for each user: uploads that begin at once would not be counted. */
  const begin = ({ id }: Principal, path: string): Promise<void> =>
    withLock(id, async () => {
      await removeOutdated()
      const own = (await readdir(folder)).filter(file => file.startsWith(`${id}.`) && join(folder, file) !== path)
      if (own.length >= maxPerUser)
        throw new ServiceError(
          'conflict',
          `You have ${maxPerUser} uploads under way, the maximum. Finish one. An upload without a new range for a day is removed.`,
        )
      await writeFile(path, '', { mode: 0o600 })
    })

  return {
    async measure(user, name) {
      const found = await stat(getPath(user, name)).catch(() => undefined)
      if (!found) throw createAbsentError(name)
      return found.size
    },
    write(user, name, { start, length }, bytes) {
      const path = getPath(user, name)
      return withLock(path, async () => {
        if (bytes.length !== length)
          throw new ServiceError('invalid', `The body has ${bytes.length} bytes, and Content-Range says ${length}.`)
        if (start + length > maxBytes)
          throw new ServiceError(
            'too-large',
            `An image may have ${maxBytes} bytes at most. The setting image_max_size decides.`,
          )
        const offset = await measureFile(path)
        if (start !== 0 && start !== offset)
          throw new ServiceError('conflict', `The upload has ${offset} bytes, so its next range begins at ${offset}.`, {
            extra: { offset },
          })
        await checkRoom(length)
        if (start === 0) await begin(user, path)
        await using file = await open(path, 'r+')
        try {
          await writeAll(file, bytes, start)
          await file.datasync()
        } catch (error) {
          // On a full disk a part of the range may be written, which the next range must not follow.
          await file.truncate(start)
          throw error
        }
        return start + length
      })
    },
    move: async (user, name, to) =>
      withLock(getPath(user, name), async () => {
        await rename(getPath(user, name), to).catch((error: unknown) => {
          if (!isSystemError(error, 'ENOENT')) throw error
          throw createAbsentError(name)
        })
      }),
    removeOutdated,
  }
}
