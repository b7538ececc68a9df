import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose'
import { type Algorithm, isSecret } from './algorithms.ts'

/** A key that tokens are verified with. */
export interface TokenKey {
  /** RFC 7638 thumbprint: the `kid` of tokens that were signed with it. */
  readonly id: string
  readonly verification: KeyObject
  /** Left out for a key that signs nothing any more. */
  readonly signing?: KeyObject
}

/** The key of an algorithm, from the host's private RSA key or from its secret. */
export const tokenKeyOf = async (algorithm: Algorithm, signing: KeyObject): Promise<TokenKey> => {
  const verification = isSecret(algorithm) ? signing : createPublicKey(signing)
  return { id: await calculateJwkThumbprint(await exportJWK(verification)), verification, signing }
}

/** The text in which a key is kept for verification alone: PEM, or the secret in base64. */
export const verificationText = ({ verification }: TokenKey): string =>
  verification.type === 'secret'
    ? verification.export().toString('base64')
    : verification.export({ type: 'spki', format: 'pem' }).toString()

/** What `verificationText` wrote. */
export const readVerificationText = (algorithm: Algorithm, text: string): KeyObject =>
  isSecret(algorithm) ? createSecretKey(Buffer.from(text, 'base64')) : createPublicKey(text)

/** A public key as others read it (RFC 7517). */
export const publicJwk = async (algorithm: Algorithm, { id, verification }: TokenKey): Promise<JWK> => ({
  ...(await exportJWK(verification)),
  kid: id,
  alg: algorithm,
  use: 'sig',
})
