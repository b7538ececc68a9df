import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { readBounded } from '#lib/platform/bounded-file.ts'
import { exists, isSystemError, makePrivateFolder, removeUnfinished, writeFileAtomic } from '#lib/platform/files.ts'
import type { KeyKeeper } from '../key-keeper.ts'
import { generatePrivateKey } from '../signing-key.ts'

/** Gives `fallback` where a file or a folder is missing. */
const orMissing =
  <T>(fallback: T) =>
  (error: unknown): T => {
    if (isSystemError(error, 'ENOENT')) return fallback
    throw error
  }

const checkPrivate = async (file: string): Promise<void> => {
  const { mode } = await stat(file)
  if ((mode & 0o077) !== 0)
    throw new ServiceError(
      'unavailable',
      `The key ${file} can be read by others than its owner. Run chmod 600 on it, and make a new key if somebody may have read it.`,
    )
}

const read = (file: string): Promise<Uint8Array | undefined> => readBounded(file).catch(orMissing(undefined))

/** Keeps keys as files in a folder, which only their owner can read. Nothing is created before the first `save`. */
export const createKeyFiles = (folder: string): KeyKeeper => {
  const locate = (name: string): string => join(folder, name)
  return {
    locate,
    load: name => read(locate(name)),
    async loadSecret(name) {
      await checkPrivate(locate(name)).catch(orMissing(undefined))
      return read(locate(name))
    },
    async save(name, bytes) {
      const file = locate(name)
      await makePrivateFolder(dirname(file))
      await writeFileAtomic(file, bytes)
    },
    async list(subfolder) {
      const names = await readdir(locate(subfolder)).catch(orMissing([]))
      return names.map(name => `${subfolder}/${name}`)
    },
    remove: name => rm(locate(name), { force: true }),
  }
}

/** Removes from the folder of the keys what a killed process left there half written. */
export const removeUnfinishedKeys = async (folder: string): Promise<void> => {
  // A rotation of an earlier version kept its new key there until the key was in use.
  await rm(join(folder, 'signing.next.pem'), { force: true })
  await removeUnfinished(folder)
}

/** Writes a new private RSA key (PKCS#8, PEM) to a file that only its owner can read. Throws `conflict` when the file exists. */
export const generateKeyFile = async (file: string, bits: number): Promise<void> => {
  if (await exists(file)) throw new ServiceError('conflict', `${file} exists already; it is not overwritten.`)
  const pem = await generatePrivateKey(bits)
  await makePrivateFolder(dirname(file))
  await writeFileAtomic(file, pem)
}
