import { createPublicKey, createSecretKey, KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, type CryptoKey, exportJWK, type JWK } from 'jose'
import { type Algorithm, usesSharedSecret } from './algorithms.ts'

/** A key that verifies tokens. */
export interface TokenKey {
  /** RFC 7638 thumbprint: the `kid` of tokens that were signed with it. */
  readonly id: string
  readonly verification: KeyObject
}

/** A key that signs tokens. */
export interface SigningKey extends TokenKey {
  readonly signing: KeyObject
}

/** The signing key of an algorithm. `signing` is the host's private RSA key or its secret. */
export const createTokenKey = async (algorithm: Algorithm, signing: KeyObject): Promise<SigningKey> => {
  const verification = usesSharedSecret(algorithm) ? signing : createPublicKey(signing)
  return { id: await calculateJwkThumbprint(await exportJWK(verification)), verification, signing }
}

/** The part of a key that verifies, as text: the public key as PEM, or the secret in base64. */
export const exportVerificationKey = ({ verification }: TokenKey): string =>
  verification.type === 'secret'
    ? verification.export().toString('base64')
    : verification.export({ type: 'spki', format: 'pem' }).toString()

/** Reads what `exportVerificationKey` wrote. */
export const importVerificationKey = (algorithm: Algorithm, text: string): KeyObject =>
  usesSharedSecret(algorithm) ? createSecretKey(Buffer.from(text, 'base64')) : createPublicKey(text)

const cryptoKeys = new WeakMap<KeyObject, Promise<CryptoKey>>()

const importCryptoKey = async (key: KeyObject, algorithm: Algorithm): Promise<CryptoKey> => {
  const hash = `SHA-${algorithm.slice(2)}`
  if (key.type === 'secret')
    return crypto.subtle.importKey('raw', key.export(), { name: 'HMAC', hash }, false, ['sign', 'verify'])
  const usages = [key.type === 'private' ? 'sign' : 'verify'] as const
  return crypto.subtle.importKey('jwk', await exportJWK(key), { name: 'RSASSA-PKCS1-v1_5', hash }, false, usages)
}

/** A key as Web Crypto has it. Not every platform has the method of `KeyObject` that gives it, with which jose would do this. */
export const toCryptoKey = (key: CryptoKey | KeyObject, algorithm: Algorithm): CryptoKey | Promise<CryptoKey> => {
  if (!(key instanceof KeyObject)) return key
  const imported = cryptoKeys.get(key) ?? importCryptoKey(key, algorithm)
  cryptoKeys.set(key, imported)
  return imported
}

/** A public key as a JSON web key (RFC 7517). */
export const exportPublicJwk = async (algorithm: Algorithm, { id, verification }: TokenKey): Promise<JWK> => {
  // Some runtimes export these two as well, which would change the order of the members.
  const { alg: _, use: __, ...parameters } = await exportJWK(verification)
  return { ...parameters, kid: id, alg: algorithm, use: 'sig' }
}
