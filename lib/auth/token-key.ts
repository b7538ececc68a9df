import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose'
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

/** A public key as a JSON web key (RFC 7517). */
export const exportPublicJwk = async (algorithm: Algorithm, { id, verification }: TokenKey): Promise<JWK> => ({
  ...(await exportJWK(verification)),
  kid: id,
  alg: algorithm,
  use: 'sig',
})
