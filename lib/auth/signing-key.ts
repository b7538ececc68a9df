import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { KeyKeeper } from './key-keeper.ts'

const signingKeyName = 'signing.pem'

/** Generates a private RSA key (PKCS#8, PEM). */
export const generatePrivateKey = async (bits: number): Promise<Uint8Array> => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: bits })
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

/** Reads a private RSA key. Throws for bytes that are not one, and for a key that is too short. */
const parsePrivateKey = (pem: Uint8Array): KeyObject => {
  const key = createPrivateKey(Buffer.from(pem))
  if (key.asymmetricKeyType !== 'rsa') throw new Error(`it is an ${key.asymmetricKeyType} key`)
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) throw new Error('it has fewer than 2048 bits')
  return key
}

const readPrivateKey = async (keeper: KeyKeeper): Promise<KeyObject | undefined> => {
  try {
    const pem = await keeper.loadSecret(signingKeyName)
    return pem && parsePrivateKey(pem)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError(
      'unavailable',
      `The key ${keeper.locate(signingKeyName)} is not a private RSA key that can be used: ${messageOf(error)}.`,
    )
  }
}

/**
 * Reads the private key of this service, which the first start generates. Throws `unavailable` for a key that cannot be used;
 * it is never replaced.
 */
export const loadPrivateKey = async (keeper: KeyKeeper): Promise<KeyObject> => {
  const stored = await readPrivateKey(keeper)
  if (stored) return stored
  const pem = await generatePrivateKey(2048)
  await keeper.save(signingKeyName, pem)
  return parsePrivateKey(pem)
}

/** Generates a private key as strong as another one. `putInPlace` stores it as the private key of this service. */
export const generateNextKey = async (
  keeper: KeyKeeper,
  present: KeyObject,
): Promise<{ readonly next: KeyObject; readonly putInPlace: () => Promise<void> }> => {
  const pem = await generatePrivateKey(present.asymmetricKeyDetails?.modulusLength ?? 2048)
  return { next: parsePrivateKey(pem), putInPlace: () => keeper.save(signingKeyName, pem) }
}

/** Copies the private key into `retired/`. The name of the copy has the present time. */
export const retirePrivateKey = async (keeper: KeyKeeper): Promise<void> => {
  const pem = await keeper.loadSecret(signingKeyName)
  if (!pem) throw new ServiceError('unavailable', `The key ${keeper.locate(signingKeyName)} is missing.`)
  await keeper.save(`retired/signing-until-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.pem`, pem)
}
