import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { exists, isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'

/** Writes a new private RSA key (PKCS#8, PEM) that its owner alone can read. Throws `conflict` when the file exists. */
export const generateKey = async (file: string, bits: number): Promise<void> => {
  if (await exists(file)) throw new ServiceError('conflict', `${file} exists already; it is not overwritten.`)
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: bits })
  await makePrivateFolder(dirname(file))
  await writeFileAtomic(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

/** Passes a file that its owner alone can read. Throws `unavailable`. */
export const checkPrivate = async (file: string): Promise<void> => {
  const { mode } = await stat(file)
  if ((mode & 0o077) !== 0)
    throw new ServiceError(
      'unavailable',
      `The key ${file} can be read by others than its owner. Run chmod 600 on it, and make a new one if they may have.`,
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

/** Copies a private key into `retired/` below `folder`, under the time of its retirement. */
export const keepPrivateKey = async (file: string, folder: string): Promise<void> => {
  const retired = join(folder, 'retired')
  await makePrivateFolder(retired)
  await writeFileAtomic(
    join(retired, `signing-until-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.pem`),
    await readFile(file),
  )
}

/** The private key of this host, made on the first start. A key that is there and cannot be used is never replaced. */
export const loadPrivateKey = async (file: string): Promise<KeyObject> =>
  readPrivateKey(file).catch(async (error: unknown) => {
    if (!isSystemError(error, 'ENOENT')) throw error
    await generateKey(file, 2048)
    return readPrivateKey(file)
  })
