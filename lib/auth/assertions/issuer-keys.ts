import { type CryptoKey, importJWK } from 'jose'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'

/** A set of public keys (RFC 7517). Members of other kinds of keys stay, and are never used. */
export const KeySet = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional() })).max(100),
})
export type KeySet = z.infer<typeof KeySet>

/** The public keys of an issuer. */
export interface IssuerKeys {
  /** The key of a `kid`; undefined for an unknown one. Throws `unavailable` when the keys cannot be fetched. */
  find(keyId: string | undefined): Promise<CryptoKey | undefined>
}

/** Fetches the JSON at an address. */
export type FetchJson = (url: string) => Promise<unknown>

/** Milliseconds for which fetched keys are used: a key that the issuer has withdrawn is refused after that time. */
const maxAge = 300_000
/** Milliseconds between two fetches, whoever asks: anybody can send tokens with unknown keys. */
const minInterval = 10_000

/** Imports the keys that can verify signatures of an RSA algorithm. A secret key in the set is never used. */
const importKeys = async ({ keys }: KeySet, algorithm: string): Promise<ReadonlyMap<string, CryptoKey>> => {
  const imported = new Map<string, CryptoKey>()
  for (const { kid, kty, ...rest } of keys) {
    const isUsable =
      kid !== undefined &&
      kty === 'RSA' &&
      !('d' in rest) &&
      (rest['use'] ?? 'sig') === 'sig' &&
      (rest['alg'] ?? algorithm) === algorithm
    if (isUsable) imported.set(kid, await importJWK({ ...rest, kty }, algorithm))
  }
  return imported
}

/** The keys of a key set that the settings have. They are imported at the first use. */
const createFixedKeys = (keySet: KeySet, algorithm: string): IssuerKeys => {
  let keys: Promise<ReadonlyMap<string, CryptoKey>> | undefined
  return {
    async find(keyId) {
      if (keyId === undefined) return undefined
      return (await (keys ??= importKeys(keySet, algorithm))).get(keyId)
    },
  }
}

/** The keys of the key set at an address. They are fetched again when they are old, and for a key that is not known. */
const createFetchedKeys = (url: string, algorithm: string, fetchJson: FetchJson): IssuerKeys => {
  let known: { readonly keys: ReadonlyMap<string, CryptoKey>; readonly at: number } | undefined
  let lastFetch = -Infinity
  let failure: unknown
  let fetching: Promise<void> | undefined
  const fetchKeys = async (): Promise<void> => {
    lastFetch = Date.now()
    try {
      known = { keys: await importKeys(KeySet.parse(await fetchJson(url)), algorithm), at: lastFetch }
      failure = undefined
    } catch (error) {
      failure = error
    }
  }
  const getFreshKeys = () => (known && Date.now() - known.at < maxAge ? known.keys : undefined)

  return {
    async find(keyId) {
      if (keyId === undefined) return undefined
      if (!getFreshKeys()?.has(keyId)) {
        if (Date.now() - lastFetch >= minInterval) fetching ??= fetchKeys().finally(() => (fetching = undefined))
        await fetching
      }
      const keys = getFreshKeys()
      if (keys) return keys.get(keyId)
      throw new ServiceError(
        'unavailable',
        // Anybody can cause this, so only the log has the address.
        'The keys of a trusted issuer cannot be fetched, so its users cannot be known here now. Try again later.',
        { cause: new Error(`${url}: ${messageOf(failure)}`) },
      )
    },
  }
}

/** Makes the keys of an issuer from its key set, or from the address of that. */
export const createIssuerKeys = (jwks: KeySet | string, algorithm: string, fetchJson: FetchJson): IssuerKeys =>
  typeof jwks === 'string' ? createFetchedKeys(jwks, algorithm, fetchJson) : createFixedKeys(jwks, algorithm)
