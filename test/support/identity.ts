import { generateKeyPairSync, hash } from 'node:crypto'
import type { Audit } from '#lib/audit/audit.ts'
import { auditInto } from '#lib/audit/observe.ts'
import { methodOf } from '#lib/auth/hash-methods.ts'
import { type Identity, openIdentity } from '#lib/auth/identity.ts'
import type { KeyRing } from '#lib/auth/key-ring.ts'
import type { LockoutPolicy } from '#lib/auth/lockout-policy.ts'
import { hashPassword, passwordMatches } from '#lib/auth/password-hashes.ts'
import { characterKindNames, longestPassword, type PasswordPolicy } from '#lib/auth/password-policy.ts'
import type { Passwords } from '#lib/auth/passwords.ts'
import { publicJwk, tokenKeyOf } from '#lib/auth/token-key.ts'
import { openEvents, type Tell } from '#lib/events/events.ts'
import { createHealth } from '#lib/health/health.ts'
import { createApp } from '#lib/http/app.ts'
import { parseFilter } from '#lib/http/filter.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Store } from '#lib/storage/store.ts'
import { routes } from '#functions/routes.gen.ts'
import type { Answer } from './harness.ts'

export const rootPassword = 'Correct-Horse-9-Battery'

/** As the service's own by default. */
export const passwordPolicy: PasswordPolicy = { shortest: 12, longest: longestPassword, kinds: characterKindNames }
export const lockoutPolicy: LockoutPolicy = { attempts: 5, addressAttempts: 50, delay: 5, limit: 900, memory: 86_400 }
export const tokenLifetime = 3600

// bcrypt all the same, but in this thread and as cheap as it can be.
const method = { kind: 'bcrypt', cost: 4 } as const
const nobodys = hashPassword('nobody has this', method)

/** Passwords as the service hashes them, but fast. `compared` counts how often a hash was computed to compare. */
export const newPasswords = (): Passwords & { readonly compared: () => number } => {
  let compared = 0
  return {
    compared: () => compared,
    hash: async password => hashPassword(password, method),
    async verify(password, known) {
      compared += 1
      return passwordMatches(password, known ?? nobodys) && known !== undefined
    },
    isOutdated: known => methodOf(known).kind !== method.kind,
    waiting: () => 0,
    close: async () => {},
  }
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = await tokenKeyOf('RS256', privateKey)

/** One key that never changes. */
const keys: KeyRing = {
  algorithm: 'RS256',
  current: () => key,
  find: id => (id === undefined || id === key.id ? key : undefined),
  publicKeys: async () => [await publicJwk('RS256', key)],
  rotate: async () => key.id,
}

export interface Ask {
  (
    method: string,
    path: string,
    more?: {
      token?: string | undefined
      apiKey?: string | undefined
      body?: unknown
      address?: string
      headers?: Record<string, string>
    },
  ): Promise<Answer>
}

/** Sends requests to the endpoints of an identity, below `/api/v1`, each with what credential it says. */
export const askOf = ({ services, authenticate }: Identity, audit?: Audit): Ask => {
  const app = createApp({
    routes: routes.filter(
      ({ id }) => /^(auth|users|roles|claims)\//.test(id) || id === 'health/system' || (audit && id === 'audit/list'),
    ),
    services: { ...services, ...(audit && { audit }), health: createHealth({}) },
    ...(audit && { audit: auditInto(audit) }),
    authenticate,
    parseFilter,
    observe: () => {},
    checkReplies: true,
  })
  return async (method, path, { token, apiKey, body, address = '192.0.2.1', headers = {} } = {}) => {
    const at = path.startsWith('/.') ? path : `/api/v1${path}`
    const request = new Request(`https://host.example.test${at}`, {
      method,
      headers: {
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const response = await app.fetch(request, { address })
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
}

interface Options {
  readonly store?: Store
  readonly tell?: Tell
  readonly passwords?: Passwords
  readonly lockout?: LockoutPolicy
}

/** Users, roles, keys and tokens of a fresh service, in memory unless a store is given; root has `rootPassword`. */
export const newIdentity = async ({
  store,
  passwords = newPasswords(),
  lockout = lockoutPolicy,
  tell,
}: Options = {}): Promise<Identity> => {
  const at = store ?? (await createMemoryStore())
  return openIdentity({
    store: at,
    tell: tell ?? (await openEvents(at)).tell,
    passwords,
    keys,
    pepper: new Uint8Array(32),
    digest: text => hash('sha256', text),
    policy: { password: passwordPolicy, lockout, tokenLifetime },
    rootPassword,
  })
}
