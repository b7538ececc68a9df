import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Tell } from '#lib/events/events.ts'
import type { Collection, Store, Stored, Write } from '#lib/storage/store.ts'
import type { Accounts } from './accounts.ts'
import { ApiKey, ApiKeyRecord, type CreateApiKey } from './api-key-schemas.ts'
import { apiKeyEvent } from './identity-events.ts'
import { normalName } from './names.ts'
import type { Principal } from './principal.ts'

/** Credentials of external applications: each acts for the user who made it. */
export interface ApiKeys {
  /** The record's `encoded` holds the credential, this once. Throws `conflict`, and `forbidden` for claims that the caller lacks. */
  create(request: CreateApiKey, caller: Principal): Promise<ApiKeyRecord>
  list(): Promise<readonly ApiKeyRecord[]>
  /** A reference is an id or a name, in any case. Throws `not-found`. */
  show(reference: string): Promise<ApiKeyRecord>
  revoke(reference: string): Promise<void>
  remove(reference: string): Promise<void>
  /** Who a credential (base64 of `key:secret`) acts for, with what rights. Throws `unauthenticated`. */
  principal(credential: string): Promise<Principal>
  /** Who the key of this id acts for. Throws `unauthenticated` when it is revoked, expired or gone. */
  principalOf(id: string): Promise<Principal>
  /** The writes that delete all keys of a user, for the commit that deletes the user. */
  removalOf(userId: string): Promise<readonly Write[]>
}

type StoredKey = ApiKey & Stored

/** The schema leaves out what a record does not show: the digest first of all. */
const recordOf = (key: StoredKey, encoded = ''): ApiKeyRecord => ApiKeyRecord.parse({ ...key, encoded })

const refused = (message: string): ServiceError => new ServiceError('unauthenticated', message)
const unknown = (): ServiceError => refused('The API key is not valid.')

/** The two parts of a credential; undefined when it is not base64 of `key:secret`. */
export const readCredential = (credential: string): { readonly key: string; readonly secret: string } | undefined => {
  const text = Buffer.from(credential, 'base64').toString('utf8')
  const at = text.indexOf(':')
  return at <= 0 ? undefined : { key: normalName(text.slice(0, at)), secret: text.slice(at + 1) }
}

/** The rights of a key: its owner's, or those of its claims that the owner still holds. */
const rightsOf = (owner: Principal, { id, claims }: ApiKey): Principal =>
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
  readonly tell: Tell
  readonly accounts: Pick<Accounts, 'principal'>
  /** Keys the digests of secrets, so that the store alone does not let anybody guess one. */
  readonly pepper: Uint8Array
}

export const createApiKeys = ({ store, tell, accounts, pepper }: Options): ApiKeys => {
  const keys: Collection<ApiKey> = store.collection('api-keys', ApiKey, {
    unique: { name: ({ name }) => name.toLowerCase(), key: ({ key }) => key },
  })
  // Secrets are random and long, or their owner's risk: a password hash would cost a third of a second on each request.
  const digestOf = (key: string, secret: string): Buffer =>
    createHmac('sha256', pepper).update(`${key}\0${secret}`).digest()
  const nobody = digestOf('', randomBytes(32).toString('base64'))

  const find = async (reference: string): Promise<StoredKey> => {
    const wanted = reference.toLowerCase()
    const found = (await keys.get(wanted)) ?? (await keys.find('name', wanted))
    if (!found) throw new ServiceError('not-found', `There is no API key with the id or name ${reference}.`)
    return found
  }

  // Looked up once per owner and key: neither a stored key nor a principal ever changes.
  const acting = new WeakMap<Principal, WeakMap<StoredKey, Principal>>()
  const rights = (owner: Principal, key: StoredKey): Principal => {
    const known = acting.get(owner)?.get(key)
    if (known) return known
    const made = rightsOf(owner, key)
    acting.set(owner, (acting.get(owner) ?? new WeakMap<StoredKey, Principal>()).set(key, made))
    return made
  }
  const actingFor = async (key: StoredKey): Promise<Principal> => {
    if (key.revoked) throw refused('The API key has been revoked.')
    if (key.expires_at !== undefined && Date.parse(key.expires_at) <= Date.now())
      throw refused('The API key has expired.')
    const owner = await accounts.principal(key.user_id)
    if (!owner) throw refused('The owner of the API key does not exist any more.')
    return rights(owner, key)
  }

  return {
    async create(request, caller) {
      const owner = request.user_id === undefined ? caller : await accounts.principal(request.user_id)
      if (!owner) throw new ServiceError('not-found', `There is no user with the id ${request.user_id}.`)
      if (owner.id !== caller.id && !caller.superUser)
        throw new ServiceError('forbidden', 'Only super users make API keys for others.')
      const lacking = request.claims?.filter(claim => !caller.superUser && !caller.claims.has(claim)) ?? []
      if (lacking.length > 0)
        throw new ServiceError('forbidden', `A key cannot have ${lacking.join(', ')}, which you do not hold.`)
      const id = crypto.randomUUID()
      const key = normalName(request.key || randomBytes(12).toString('hex'))
      const secret = request.secret || randomBytes(32).toString('base64url')
      const now = new Date().toISOString()
      const made: ApiKey = {
        id,
        key,
        name: request.name,
        digest: digestOf(key, secret).toString('base64'),
        user_id: owner.id,
        revoked: request.revoked,
        created_at: now,
        updated_at: now,
        ...(request.revoked && { revoked_at: now }),
        ...(request.expires_at && { expires_at: request.expires_at }),
        ...(request.claims && { claims: request.claims }),
      }
      await store.commit([keys.put(made), tell(apiKeyEvent('ADDED', id, owner.id))]).catch((error: unknown) => {
        throw isFault(error, 'conflict')
          ? new ServiceError('conflict', `There is an API key with the name ${made.name} or the key ${key} already.`)
          : error
      })
      return recordOf({ ...made, rev: 1 }, Buffer.from(`${key}:${secret}`).toString('base64'))
    },
    list: async () => (await keys.list()).map(key => recordOf(key)),
    show: async reference => recordOf(await find(reference)),
    async revoke(reference) {
      const { id, user_id: owner } = await find(reference)
      const now = new Date().toISOString()
      const revoke = (key: ApiKey): ApiKey => ({
        ...key,
        revoked: true,
        revoked_at: key.revoked_at ?? now,
        updated_at: now,
      })
      await keys.update(id, revoke, [tell(apiKeyEvent('REVOKED', id, owner))])
    },
    async remove(reference) {
      const { id, user_id: owner } = await find(reference)
      await store.commit([keys.remove({ id }), tell(apiKeyEvent('REMOVED', id, owner))])
    },
    async principal(credential) {
      const given = readCredential(credential)
      if (!given) throw refused('X-Api-Key must be base64 of KEY:SECRET.')
      const key = await keys.find('key', given.key)
      const digest = key ? Buffer.from(key.digest, 'base64') : nobody
      // An unknown key is compared too, and told apart from a wrong secret by nothing.
      if (!timingSafeEqual(digestOf(key?.key ?? '', given.secret), digest) || !key) throw unknown()
      return actingFor(key)
    },
    async principalOf(id) {
      const key = await keys.get(id)
      if (!key) throw refused('The API key of this token does not exist any more.')
      return actingFor(key)
    },
    removalOf: async userId => (await keys.list()).filter(key => key.user_id === userId).map(keys.remove),
  }
}
