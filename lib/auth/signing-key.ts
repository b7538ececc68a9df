import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, type CryptoKey, exportJWK, importPKCS8, importSPKI } from 'jose'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { exists, isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'

export interface SigningKey {
  readonly algorithm: 'RS256'
  readonly signingKey: CryptoKey
  readonly verificationKey: CryptoKey
  /** RFC 7638 thumbprint of the public key. */
  readonly keyId: string
}

const algorithm = 'RS256'

/** Writes a new private RSA key (PKCS#8, PEM) that its owner alone can read. Throws `conflict` when the file exists. */
export const generateKey = async (file: string, bits: number): Promise<void> => {
  if (await exists(file)) throw new ServiceError('conflict', `${file} exists already; it is not overwritten.`)
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: bits })
  await makePrivateFolder(dirname(file))
  await writeFileAtomic(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

const readPrivateKey = async (file: string): Promise<KeyObject> => {
  const { mode } = await stat(file)
  if ((mode & 0o077) !== 0)
    throw new ServiceError(
      'unavailable',
      `The key ${file} can be read by others than its owner. Run chmod 600 on it, and make a new one if they may have.`,
    )
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

/** The key that signs tokens, made on the first start. A key that is there and cannot be used is never replaced. */
export const loadSigningKey = async (file: string): Promise<SigningKey> => {
  const key = await readPrivateKey(file).catch(async (error: unknown) => {
    if (!isSystemError(error, 'ENOENT')) throw error
    await generateKey(file, 2048)
    return readPrivateKey(file)
  })
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  const privatePem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  const verificationKey = await importSPKI(publicPem, algorithm, { extractable: true })
  return {
    algorithm,
    signingKey: await importPKCS8(privatePem, algorithm),
    verificationKey,
    keyId: await calculateJwkThumbprint(await exportJWK(verificationKey)),
  }
}
