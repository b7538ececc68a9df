import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { exists, isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'

/** Writes a new private RSA key (PKCS#8, PEM) to a file that only its owner can read. Throws `conflict` when the file exists. */
export const generateKey = async (file: string, bits: number): Promise<void> => {
  if (await exists(file)) throw new ServiceError('conflict', `${file} exists already; it is not overwritten.`)
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: bits })
  await makePrivateFolder(dirname(file))
  await writeFileAtomic(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

/** Passes a file that only its owner can read. Throws `unavailable` for any other. */
export const checkPrivate = async (file: string): Promise<void> => {
  const { mode } = await stat(file)
  if ((mode & 0o077) !== 0)
    throw new ServiceError(
      'unavailable',
      `The key ${file} can be read by others than its owner. Run chmod 600 on it, and make a new key if somebody may have read it.`,
    )
}

/** Reads a private RSA key. Throws `unavailable` for a file that is not one, is too short, or can be read by others. */
export const readPrivateKey = async (file: string): Promise<KeyObject> => {
  await checkPrivate(file)
  try {
    const key = createPrivateKey(await readFile(file))
    if (key.asymmetricKeyType !== 'rsa') throw new Error(`it is an ${key.asymmetricKeyType} key`)
    if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) throw new Error('it has fewer than 2048 bits')
    return key
  } catch (error) {
    throw new ServiceError(
      'unavailable',
      `The key ${file} is not a private RSA key that can be used: ${messageOf(error)}.`,
    )
  }
}

/** Copies a private key into `retired/` below `folder`. The name of the copy has the present time. */
export const retirePrivateKey = async (file: string, folder: string): Promise<void> => {
  const retired = join(folder, 'retired')
  await makePrivateFolder(retired)
  await writeFileAtomic(
    join(retired, `signing-until-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.pem`),
    await readFile(file),
  )
}

/**
 * Reads the private key of this host, which the first start generates. Throws `unavailable` for a key that cannot be used; it
 * is never replaced.
 */
export const loadPrivateKey = async (file: string): Promise<KeyObject> =>
  readPrivateKey(file).catch(async (error: unknown) => {
    if (!isSystemError(error, 'ENOENT')) throw error
    await generateKey(file, 2048)
    return readPrivateKey(file)
  })
