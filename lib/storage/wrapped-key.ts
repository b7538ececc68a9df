import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  scrypt,
  type ScryptOptions,
} from 'node:crypto'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { dataKeySize } from './seal.ts'

/** The secrets that open a sealed store. Both are needed (spec 5.10). */
export interface SealSecrets {
  readonly password: string
  readonly privateKey: KeyObject
  /** scrypt's N for new wrapped keys; a power of two. */
  readonly cost?: number
}

/** The data key of the store, wrapped for one password and one private key. */
export const WrappedKey = z.object({
  version: z.literal(1),
  key_id: z.string(),
  cost: z
    .int()
    .min(2)
    .max(2 ** 20),
  salt: z.base64(),
  nonce: z.base64(),
  wrapped: z.base64(),
  tag: z.base64(),
})
export type WrappedKey = z.infer<typeof WrappedKey>

// About a third of a second and 128 MB for each guess (OWASP's parameters for scrypt).
const defaultCost = 2 ** 17

/** The id of a private key: a hash of its public half. */
const computeKeyId = (privateKey: KeyObject): string =>
  createHash('sha256')
    .update(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }))
    .digest('base64url')

const derive = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
  })

/** Derives the wrapping key from the stretched password and the private key. */
const deriveWrappingKey = async (
  { password, privateKey }: SealSecrets,
  salt: Buffer,
  cost: number,
): Promise<Buffer> => {
  const stretched = await derive(password, salt, { N: cost, r: 8, p: 1, maxmem: 256 * cost * 8 })
  const { n = '', d = '' } = privateKey.export({ format: 'jwk' })
  return Buffer.from(hkdfSync('sha256', Buffer.concat([stretched, Buffer.from(`${n}.${d}`)]), salt, 'vmhost store', 32))
}

/** Whether a wrapped key is for this private key. */
export const isWrappedFor = (wrappedKey: WrappedKey, privateKey: KeyObject): boolean =>
  wrappedKey.key_id === computeKeyId(privateKey)

/** Wraps a data key for these secrets. It takes as long as unwrapping, because both stretch the password. */
export const wrapDataKey = async (dataKey: Buffer, secrets: SealSecrets): Promise<WrappedKey> => {
  const { cost = defaultCost } = secrets
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv('aes-256-gcm', await deriveWrappingKey(secrets, salt, cost), nonce)
  const wrapped = Buffer.concat([cipher.update(dataKey), cipher.final()])
  return {
    version: 1,
    key_id: computeKeyId(secrets.privateKey),
    cost,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    wrapped: wrapped.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
  }
}

const createRefusal = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('unavailable', `${message} Nothing was changed.`, { cause })

/** Unwraps the data key. Throws `unavailable`, with different messages for a replaced private key and for a wrong password. */
export const unwrapDataKey = async (wrappedKeys: readonly WrappedKey[], secrets: SealSecrets): Promise<Buffer> => {
  const wrappedKey = wrappedKeys.find(one => isWrappedFor(one, secrets.privateKey))
  if (!wrappedKey)
    throw createRefusal(
      `The store is encrypted for another private key than the one in keys/signing.pem, which must have been replaced. Put the old key back (keys/retired has those of before each rotation): without it the store cannot be read by anybody.`,
    )
  try {
    const key = await deriveWrappingKey(secrets, Buffer.from(wrappedKey.salt, 'base64'), wrappedKey.cost)
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(wrappedKey.nonce, 'base64'), {
      authTagLength: 16,
    })
    decipher.setAuthTag(Buffer.from(wrappedKey.tag, 'base64'))
    const dataKey = Buffer.concat([decipher.update(Buffer.from(wrappedKey.wrapped, 'base64')), decipher.final()])
    if (dataKey.length !== dataKeySize) throw new Error('it has the wrong size')
    return dataKey
  } catch (error) {
    throw createRefusal(
      'The password of the store (VMHOST_STORAGE_PASSWORD) is not the one that it was encrypted with.',
      error,
    )
  }
}
