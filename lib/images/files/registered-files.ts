import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { exists, renameSynced, syncFile, syncFolder } from '#lib/platform/files.ts'
import { type OpenFile, openFile } from '#lib/platform/open-file.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Image } from '../schemas.ts'
import { digestFile } from './digest-file.ts'

type Kind = Image['kind']

const extensions: Readonly<Record<Kind, string>> = { disk: 'qcow2', iso: 'iso' }
const fileName = /^([0-9a-f]{64})\.(?:qcow2|iso)$/

/** The identity of a file that was verified. As long as it is the same, the service does not read the file again. */
const VerifiedFile = z.object({
  /** The SHA-256 of the file. */
  id: z.string(),
  inode: z.string(),
  /** Nanoseconds since 1970. */
  modified: z.string(),
  size: z.int(),
})

/**
 * The files of registered images. Each is read-only and named by the SHA-256 of its content, so that anybody can check it at
 * any time. The service reads it once to verify it, and later compares inode, time and size.
 */
export interface RegisteredFiles {
  /**
   * Opens the file with a digest for reading, and verifies it. Throws `not-found`, and `conflict` when its content is not what
   * the digest says.
   */
  open(digest: string): Promise<OpenFile>
  /**
   * Moves a finished file to the others, where it replaces a file of the same content, and has `register` store what refers to
   * it. Returns what `register` returns.
   */
  add<T>(
    path: string,
    kind: Kind,
    signal: AbortSignal,
    register: (file: { readonly digest: string; readonly size: number }) => Promise<T>,
  ): Promise<T>
  /** Deletes the file with a digest, if `isUnused` says so while no other work on it is under way. */
  remove(digest: string, isUnused: () => Promise<boolean>): Promise<void>
  /** The digests of all files. */
  list(): Promise<readonly string[]>
}

/** Opens the files of registered images in a folder. */
export const openRegisteredFiles = async (store: Store, folder: string): Promise<RegisteredFiles> => {
  const verified = store.collection('image-files', VerifiedFile)
  const withLock = createKeyedMutex()

  const getPath = (digest: string, kind: Kind): string => join(folder, `${digest}.${extensions[kind]}`)
  const findPath = async (digest: string): Promise<string> => {
    for (const kind of ['disk', 'iso'] as const) if (await exists(getPath(digest, kind))) return getPath(digest, kind)
    throw new ServiceError('not-found', `The file of the image ${digest} is missing. Pull the image again.`)
  }
  const readIdentity = async (id: string, { handle }: OpenFile): Promise<z.infer<typeof VerifiedFile>> => {
    const { ino, mtimeNs, size } = await handle.stat({ bigint: true })
    return { id, inode: String(ino), modified: String(mtimeNs), size: Number(size) }
  }
  const recordVerified = async (identity: z.infer<typeof VerifiedFile>): Promise<void> => {
    const { rev } = verified.getSync(identity.id) ?? {}
    await store.commit([verified.put({ ...identity, ...(rev !== undefined && { rev }) })])
  }
  const isVerified = ({ id, inode, modified, size }: z.infer<typeof VerifiedFile>): boolean => {
    const known = verified.getSync(id)
    return known?.inode === inode && known.modified === modified && known.size === size
  }
  const verify = async (digest: string, file: OpenFile): Promise<void> => {
    const identity = await readIdentity(digest, file)
    if (isVerified(identity)) return
    if ((await digestFile(file)) !== digest)
      throw new ServiceError(
        'conflict',
        `${file.path} is not the image ${digest} any more: its content has changed. Pull the image again.`,
      )
    await recordVerified(identity)
  }

  return {
    async open(digest) {
      const path = await findPath(digest)
      const file = await openFile(path).catch((error: unknown) => {
        throw new ServiceError('conflict', messageOf(error), { cause: error })
      })
      try {
        // One caller at a time: the others find the result of the first.
        await withLock(`verify ${digest}`, () => verify(digest, file))
        return file
      } catch (error) {
        await file[Symbol.asyncDispose]()
        throw error
      }
    },
    async add(path, kind, signal, register) {
      await syncFile(path)
      await using file = await openFile(path)
      const digest = await digestFile(file, { signal })
      return await withLock(digest, async () => {
        // The file becomes read-only here and not earlier: a job that resumes after a kill must be able to write it again.
        await chmod(path, 0o400)
        const target = getPath(digest, kind)
        const isNew = !(await exists(target))
        await renameSynced(path, target)
        try {
          await recordVerified(await readIdentity(digest, file))
          return await register({ digest, size: file.size })
        } catch (error) {
          // Nothing refers to it, so nobody could find what fills the disk.
          if (isNew) await rm(target, { force: true })
          throw error
        }
      })
    },
    remove: (digest, isUnused) =>
      withLock(digest, async () => {
        if (!(await isUnused())) return
        for (const kind of ['disk', 'iso'] as const) await rm(getPath(digest, kind), { force: true })
        await syncFolder(folder)
        const known = verified.getSync(digest)
        if (known) await store.commit([verified.remove(known)])
      }),
    async list() {
      const names = await readdir(folder)
      return names.flatMap(name => fileName.exec(name)?.[1] ?? [])
    },
  }
}
