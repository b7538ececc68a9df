import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { JWK } from 'jose'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { type Algorithm, algorithms, usesSharedSecret } from './algorithms.ts'
import type { KeyKeeper } from './key-keeper.ts'
import { generateNextKey } from './signing-key.ts'
import {
  exportPublicJwk,
  importVerificationKey,
  type SigningKey,
  type TokenKey,
  createTokenKey,
  exportVerificationKey,
} from './token-key.ts'

/** The keys of this host's tokens. One signs; retired ones verify until the last token that they signed has expired. */
export interface KeyRing {
  readonly algorithm: Algorithm
  /** The signing key. */
  current(): SigningKey
  /** The key of a `kid`, or the signing key without one; undefined for an unknown or expired key. */
  find(keyId: string | undefined): TokenKey | undefined
  /** The public keys, with which other services can verify tokens. None when tokens are signed with a secret. */
  publicKeys(): Promise<readonly JWK[]>
  /** Generates new keys and signs with them from now on. Gives the `kid` of the new key. */
  rotate(): Promise<string>
}

interface Options {
  /** Keeps `signing.pem`, `signing.secret` and `retired/`. */
  readonly keeper: KeyKeeper
  readonly algorithm: Algorithm
  /** The lifetime of a token in seconds. */
  readonly lifetime: number
  /** The private key of this service, which is stored in `signing.pem`. */
  readonly privateKey: KeyObject
  /** Replaces the private key by calling `putInPlace`, and updates around it what else depends on that key. */
  readonly replace: (next: KeyObject, putInPlace: () => Promise<void>) => Promise<void>
}

const Retired = z.object({
  algorithm: z.enum(algorithms),
  key_id: z.string(),
  key: z.string(),
  expires_at: z.iso.datetime(),
})

const secretName = 'signing.secret'
const secretSize = 64
/** Milliseconds that the old key may go on signing after it was stored as retired. */
const replacementGrace = 60_000

const loadSecret = async (keeper: KeyKeeper): Promise<KeyObject> => {
  const stored = await keeper.loadSecret(secretName)
  const bytes = stored ?? randomBytes(secretSize)
  if (!stored) await keeper.save(secretName, bytes)
  if (bytes.length !== secretSize)
    throw new ServiceError(
      'unavailable',
      `${keeper.locate(secretName)} is damaged. Put it back as it was, or remove it: then everybody has to sign in again.`,
    )
  return createSecretKey(Buffer.from(bytes))
}

/**
 * Opens the keys of a keeper, and creates the secret when the algorithm needs one. Throws `unavailable` when the secret is
 * damaged, or others than its owner can read it.
 */
export const openKeyRing = async (options: Options): Promise<KeyRing> => {
  const { keeper, algorithm, lifetime, replace } = options
  const retired = new Map<string, TokenKey & { readonly expiresAt: number }>()
  let { privateKey } = options

  const getCurrentKey = async (): Promise<SigningKey> =>
    createTokenKey(algorithm, usesSharedSecret(algorithm) ? await loadSecret(keeper) : privateKey)
  const loadRetired = async (): Promise<void> => {
    const names = await keeper.list('retired')
    for (const name of names.filter(name => name.endsWith('.json'))) {
      const bytes = await keeper.load(name)
      if (!bytes) continue
      const record = Retired.parse(JSON.parse(Buffer.from(bytes).toString()))
      const expiresAt = Date.parse(record.expires_at)
      if (expiresAt <= Date.now()) await keeper.remove(name)
      else if (record.algorithm === algorithm)
        retired.set(record.key_id, {
          id: record.key_id,
          verification: importVerificationKey(algorithm, record.key),
          expiresAt,
        })
    }
  }
  const retire = async (key: TokenKey): Promise<void> => {
    const expiresAt = Date.now() + lifetime * 1000 + replacementGrace
    const record: z.infer<typeof Retired> = {
      algorithm,
      key_id: key.id,
      key: exportVerificationKey(key),
      expires_at: new Date(expiresAt).toISOString(),
    }
    await keeper.save(`retired/${key.id}.json`, Buffer.from(JSON.stringify(record)))
    retired.set(key.id, { id: key.id, verification: key.verification, expiresAt })
  }
  const listUnexpired = (): readonly TokenKey[] =>
    [...retired.values()].filter(({ id, expiresAt }) => id !== current.id && expiresAt > Date.now())

  await loadRetired()
  let current = await getCurrentKey()
  let rotation: Promise<string> | undefined

  const rotate = async (): Promise<string> => {
    const { next, putInPlace } = await generateNextKey(keeper, privateKey)
    // The old key is stored as retired first, so that its tokens stay valid whenever this process ends.
    await retire(current)
    await replace(next, putInPlace)
    privateKey = next
    if (usesSharedSecret(algorithm)) await keeper.save(secretName, randomBytes(secretSize))
    current = await getCurrentKey()
    return current.id
  }

  return {
    algorithm,
    current: () => current,
    find(keyId) {
      if (keyId === undefined || keyId === current.id) return current
      const key = retired.get(keyId)
      return key && key.expiresAt > Date.now() ? key : undefined
    },
    publicKeys: async () =>
      usesSharedSecret(algorithm)
        ? []
        : Promise.all([current, ...listUnexpired()].map(key => exportPublicJwk(algorithm, key))),
    rotate: () => (rotation ??= rotate().finally(() => (rotation = undefined))),
  }
}
