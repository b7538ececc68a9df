import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Collection, Store, Stored, Write } from '#lib/storage/store.ts'
import type { Accounts } from './accounts.ts'
import { ApiKey, ApiKeyRecord, type CreateApiKey } from './api-key-schemas.ts'
import { createUnknownClaimError } from './claim-records.ts'
import { canonicalizeClaim, plannedClaims } from '#lib/access/claims.ts'
import type { Directory } from './directory.ts'
import { checkMayChange } from './grants.ts'
import { createApiKeyEvent } from './identity-events.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import type { Principal } from '#lib/access/principal.ts'

/** The API keys: credentials of external applications. Each acts for its owner. */
export interface ApiKeys {
  /**
   * Creates a key. The record's `encoded` holds the credential, which is never shown again. Throws `conflict` for a name
   * or key that is taken, `not-found` for an unknown owner, `invalid` for an unknown claim, and `forbidden` for a claim
   * that the caller lacks or an owner whom the caller may not change, because the key acts as its owner.
   */
  create(request: CreateApiKey, caller: Principal): Promise<ApiKeyRecord>
  list(): Promise<readonly ApiKeyRecord[]>
  /** Gives the key of an id or name, in any case. Throws `not-found`. */
  show(reference: string): Promise<ApiKeyRecord>
  /** Revokes the key for good. Throws `not-found`, and `forbidden` when the caller may not change the owner of the key. */
  revoke(reference: string, caller: Principal): Promise<void>
  /** Deletes the key. Throws as `revoke` does. */
  remove(reference: string, caller: Principal): Promise<void>
  /** The principal that a credential (base64 of `key:secret`) acts as. Throws `unauthenticated`. */
  principal(credential: string): Promise<KeyPrincipal>
  /** The principal that the key of this id acts as. Throws `unauthenticated` when it is revoked, expired or gone. */
  principalOf(id: string): Promise<KeyPrincipal>
  /** Gives the writes that delete all keys of a user, for the commit that deletes the user. */
  prepareRemoval(userId: string): Promise<readonly Write[]>
}

type StoredKey = ApiKey & Stored

/** The record of a stored key. The schema drops the members that clients must not see, above all the digest. */
const toRecord = (key: StoredKey, encoded = ''): ApiKeyRecord => ApiKeyRecord.parse({ ...key, encoded })

const createUnauthenticatedError = (message: string): ServiceError => new ServiceError('unauthenticated', message)
const createInvalidKeyError = (): ServiceError => createUnauthenticatedError('The API key is not valid.')

/** Splits a credential into key and secret; undefined when it is not base64 of `key:secret`. */
export const parseCredential = (credential: string): { readonly key: string; readonly secret: string } | undefined => {
  const text = Buffer.from(credential, 'base64').toString('utf8')
  const separator = text.indexOf(':')
  return separator <= 0
    ? undefined
    : { key: normalizeName(text.slice(0, separator)), secret: text.slice(separator + 1) }
}

/** The principal that an API key acts as. */
export type KeyPrincipal = Principal & { readonly apiKeyId: string }

/** The rights of a key: all those of its owner, or the claims of the key that the owner still holds. */
const narrowPrincipal = (owner: Principal, { id, claims }: ApiKey): KeyPrincipal =>
  claims === undefined
    ? { ...owner, apiKeyId: id }
    : {
        ...owner,
        apiKeyId: id,
        roles: [],
        superUser: false,
        claims: new Set(claims.filter(claim => owner.superUser || owner.claims.has(claim))),
      }

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly accounts: Pick<Accounts, 'principal'>
  readonly directory: Pick<Directory, 'roleTable' | 'claimExists' | 'find' | 'principal'>
  readonly rootId: string
  /** The key of the digests. Without it nobody can test guesses of a secret against the store. */
  readonly pepper: Uint8Array
}

export const createApiKeys = ({ store, publish, accounts, directory, rootId, pepper }: Options): ApiKeys => {
  const keys: Collection<ApiKey> = store.collection('api-keys', ApiKey, {
    unique: { name: ({ name }) => name.toLowerCase(), key: ({ key }) => key },
  })
  // Not a password hash, which would cost a third of a second on each request: generated secrets are long and random, and an
  // owner who chooses a weak one takes the risk.
  const computeDigest = (key: string, secret: string): Buffer =>
    createHmac('sha256', pepper).update(`${key}\0${secret}`).digest()
  const unmatchableDigest = computeDigest('', randomBytes(32).toString('base64'))

  const find = async (reference: string): Promise<StoredKey> => {
    const wanted = reference.toLowerCase()
    const found = (await keys.get(wanted)) ?? (await keys.find('name', wanted))
    if (!found) throw new ServiceError('not-found', `There is no API key with the id or name ${reference}.`)
    return found
  }

  /**
   * Passes a caller who may change the keys of `owner`: users change their own, and others' by the rule for changing a user.
   * A narrowed key acts as its owner with fewer rights: of the owner's keys it can change itself alone. Throws `forbidden`.
   */
  const checkMayChangeKeys = (owner: Principal, caller: Principal, key?: StoredKey): void => {
    const isWhole = caller.superUser === owner.superUser && caller.claims.size === owner.claims.size
    const isOwn = owner.id === caller.id && (isWhole || key?.id === caller.apiKeyId)
    if (!isOwn) checkMayChange(caller, owner, { rootId, roles: directory.roleTable() })
  }
  const findToChange = async (reference: string, caller: Principal): Promise<StoredKey> => {
    const key = await find(reference)
    const owner = await accounts.principal(key.user_id)
    if (owner) checkMayChangeKeys(owner, caller, key)
    return key
  }

  // Stored keys and principals are immutable, so the principal of a key can be cached by both.
  const principalCache = new WeakMap<Principal, WeakMap<StoredKey, KeyPrincipal>>()
  const getCachedPrincipal = (owner: Principal, key: StoredKey): KeyPrincipal => {
    const known = principalCache.get(owner)?.get(key)
    if (known) return known
    const made = narrowPrincipal(owner, key)
    principalCache.set(owner, (principalCache.get(owner) ?? new WeakMap<StoredKey, KeyPrincipal>()).set(key, made))
    return made
  }
  const authorizeKey = async (key: StoredKey): Promise<KeyPrincipal> => {
    if (key.revoked) throw createUnauthenticatedError('The API key has been revoked.')
    if (key.expires_at !== undefined && Date.parse(key.expires_at) <= Date.now())
      throw createUnauthenticatedError('The API key has expired.')
    const owner = await accounts.principal(key.user_id)
    if (!owner) throw createUnauthenticatedError('The owner of the API key does not exist any more.')
    return getCachedPrincipal(owner, key)
  }

  const findOwner = async (reference: string): Promise<Principal> => {
    const user = await directory.find(reference)
    if (!user) throw new ServiceError('not-found', `There is no user with the id, e-mail or user name ${reference}.`)
    return directory.principal(user)
  }
  /** The claims of a new key, each once. Throws `invalid` for one that is unknown, or belongs to a planned feature. */
  const resolveClaims = (given: readonly string[]): readonly string[] => {
    const names = [...new Set(given.map(name => canonicalizeClaim(normalizeName(name))))]
    for (const name of names) {
      if (!directory.claimExists(name)) throw createUnknownClaimError(name, 'invalid')
      if (plannedClaims.has(name))
        throw new ServiceError('invalid', `The claim ${name} is of a feature that is not there yet; leave it out.`)
    }
    return names
  }

  return {
    async create(request, caller) {
      const owner = request.user_id === undefined ? caller : await findOwner(request.user_id)
      if (owner.id !== caller.id && !caller.superUser)
        throw new ServiceError('forbidden', 'Only super users make API keys for others.')
      checkMayChangeKeys(owner, caller)
      const claims = request.claims && resolveClaims(request.claims)
      const missingClaims = claims?.filter(claim => !caller.superUser && !caller.claims.has(claim)) ?? []
      if (missingClaims.length > 0)
        throw new ServiceError('forbidden', `A key cannot have ${missingClaims.join(', ')}, which you do not hold.`)
      const id = crypto.randomUUID()
      const key = normalizeName(request.key || randomBytes(12).toString('hex'))
      const secret = request.secret || randomBytes(32).toString('base64url')
      const now = new Date().toISOString()
      const made: ApiKey = {
        id,
        key,
        name: request.name,
        digest: computeDigest(key, secret).toString('base64'),
        user_id: owner.id,
        revoked: request.revoked,
        created_at: now,
        updated_at: now,
        ...(request.revoked && { revoked_at: now }),
        ...(request.expires_at && { expires_at: request.expires_at }),
        ...(claims && { claims: [...claims] }),
      }
      await store
        .commit([keys.put(made), publish(createApiKeyEvent('ADDED', id, owner.id))])
        .catch((error: unknown) => {
          throw isFault(error, 'conflict')
            ? new ServiceError('conflict', `There is an API key with the name ${made.name} or the key ${key} already.`)
            : error
        })
      return toRecord({ ...made, rev: 1 }, Buffer.from(`${key}:${secret}`).toString('base64'))
    },
    list: async () => (await keys.list()).map(key => toRecord(key)),
    show: async reference => toRecord(await find(reference)),
    async revoke(reference, caller) {
      const { id, user_id: owner } = await findToChange(reference, caller)
      const now = new Date().toISOString()
      const revoke = (key: ApiKey): ApiKey => ({
        ...key,
        revoked: true,
        revoked_at: key.revoked_at ?? now,
        updated_at: now,
      })
      await keys.update(id, revoke, [publish(createApiKeyEvent('REVOKED', id, owner))], { essential: true })
    },
    async remove(reference, caller) {
      const { id, user_id: owner } = await findToChange(reference, caller)
      await store.commit([keys.remove({ id }), publish(createApiKeyEvent('REMOVED', id, owner))], { essential: true })
    },
    async principal(credential) {
      const given = parseCredential(credential)
      if (!given) throw createUnauthenticatedError('X-Api-Key must be base64 of KEY:SECRET.')
      const key = await keys.find('key', given.key)
      const digest = key ? Buffer.from(key.digest, 'base64') : unmatchableDigest
      // An unknown key is compared too, so that neither the message nor the time tells it from a wrong secret.
      if (!timingSafeEqual(computeDigest(key?.key ?? '', given.secret), digest) || !key) throw createInvalidKeyError()
      return authorizeKey(key)
    },
    async principalOf(id) {
      const key = await keys.get(id)
      if (!key) throw createUnauthenticatedError('The API key does not exist any more.')
      return authorizeKey(key)
    },
    prepareRemoval: async userId => (await keys.list()).filter(key => key.user_id === userId).map(keys.remove),
  }
}
