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

/** What opens a sealed store: both of them are needed (spec 5.10). */
export interface SealSecrets {
  readonly password: string
  readonly privateKey: KeyObject
  /** A file that is there once the store has been sealed: from then on a plain one is not believed. */
  readonly mark?: string
  /** scrypt's N for what is wrapped from now on; a power of two. */
  readonly cost?: number
}

/** The key that seals the store, wrapped for one password and one private key. */
export const Wrap = z.object({
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
export type Wrap = z.infer<typeof Wrap>

// About a third of a second and 128 MB for each guess (OWASP's parameters for scrypt).
const usualCost = 2 ** 17

/** Names a private key without telling anything of it. */
const keyIdOf = (privateKey: KeyObject): string =>
  createHash('sha256')
    .update(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }))
    .digest('base64url')

const derive = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
  })

/** The key that wraps: of the password, stretched, and of the private half of the key. */
const wrappingKey = async ({ password, privateKey }: SealSecrets, salt: Buffer, cost: number): Promise<Buffer> => {
  const stretched = await derive(password, salt, { N: cost, r: 8, p: 1, maxmem: 256 * cost * 8 })
  const { n = '', d = '' } = privateKey.export({ format: 'jwk' })
  return Buffer.from(hkdfSync('sha256', Buffer.concat([stretched, Buffer.from(`${n}.${d}`)]), salt, 'vmhost store', 32))
}

/** Whether this private key opens a wrap, given the password. */
export const isFor = (wrap: Wrap, privateKey: KeyObject): boolean => wrap.key_id === keyIdOf(privateKey)

/** Wraps a data key for these secrets. Takes as long as unwrapping. */
export const wrapDataKey = async (dataKey: Buffer, secrets: SealSecrets): Promise<Wrap> => {
  const { cost = usualCost } = secrets
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv('aes-256-gcm', await wrappingKey(secrets, salt, cost), nonce)
  const wrapped = Buffer.concat([cipher.update(dataKey), cipher.final()])
  return {
    version: 1,
    key_id: keyIdOf(secrets.privateKey),
    cost,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    wrapped: wrapped.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
  }
}

const refused = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('unavailable', `${message} Nothing was changed.`, { cause })

/** The data key. Throws `unavailable`, telling a private key that was replaced from a password that is wrong. */
export const unwrapDataKey = async (wraps: readonly Wrap[], secrets: SealSecrets): Promise<Buffer> => {
  const wrap = wraps.find(one => isFor(one, secrets.privateKey))
  if (!wrap)
    throw refused(
      `The store is encrypted for another private key than the one in keys/signing.pem, which must have been replaced. Put the old key back (keys/retired has those of before each rotation): without it the store cannot be read by anybody.`,
    )
  try {
    const key = await wrappingKey(secrets, Buffer.from(wrap.salt, 'base64'), wrap.cost)
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(wrap.nonce, 'base64'), { authTagLength: 16 })
    decipher.setAuthTag(Buffer.from(wrap.tag, 'base64'))
    const dataKey = Buffer.concat([decipher.update(Buffer.from(wrap.wrapped, 'base64')), decipher.final()])
    if (dataKey.length !== dataKeySize) throw new Error('it has the wrong size')
    return dataKey
  } catch (error) {
    throw refused(
      'The password of the store (VMHOST_STORAGE_PASSWORD) is not the one that it was encrypted with.',
      error,
    )
  }
}
