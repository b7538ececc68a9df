import { generateKeyPairSync, hash } from 'node:crypto'
import { every } from '#lib/async/every.ts'
import type { Audit } from '#lib/audit/audit.ts'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { detectHashMethod } from '#lib/auth/hash-methods.ts'
import { type Identity, openIdentity } from '#lib/auth/identity.ts'
import type { KeyRing } from '#lib/auth/key-ring.ts'
import type { LockoutPolicy } from '#lib/auth/lockout-policy.ts'
import { hashPassword, passwordMatches } from '#lib/auth/password-hashes.ts'
import { characterKindNames, maxPasswordBytes, type PasswordPolicy } from '#lib/auth/password-policy.ts'
import type { Passwords } from '#lib/auth/passwords.ts'
import type { RootPasswordUse } from '#lib/auth/root-confirmation.ts'
import { exportPublicJwk, createTokenKey } from '#lib/auth/token-key.ts'
import { openEvents, type Publish } from '#lib/events/events.ts'
import { createHealth } from '#lib/health/health.ts'
import { createApp } from '#lib/http/app.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Store } from '#lib/storage/store.ts'
import { hostRoutes as routes } from '#lib/compose/hosts/host-routes.ts'
import type { Answer } from './harness.ts'
import { sendTo } from './transport.ts'

export const rootPassword = 'Correct-Horse-9-Battery'

/** The defaults of the service. */
export const passwordPolicy: PasswordPolicy = {
  minLength: 12,
  maxBytes: maxPasswordBytes,
  requiredKinds: characterKindNames,
}
export const lockoutPolicy: LockoutPolicy = {
  attempts: 5,
  addressAttempts: 50,
  delay: 5,
  maxDelay: 900,
  resetAfter: 86_400,
}
export const tokenLifetime = 3600

// Real bcrypt, but in this thread and at the lowest cost.
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
    isOutdated: known => detectHashMethod(known).kind !== method.kind,
    pending: () => 0,
    close: async () => {},
  }
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = await createTokenKey('RS256', privateKey)

/** One key that never changes. */
export const identityKeys: KeyRing = {
  algorithm: 'RS256',
  current: () => key,
  find: id => (id === undefined || id === key.id ? key : undefined),
  publicKeys: async () => [await exportPublicJwk('RS256', key)],
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

/** Sends requests to the endpoints of an identity, below `/api/v1`, with the given credential. */
export const askOf = ({ services, authenticate }: Identity, audit?: Audit): Ask => {
  const app = createApp({
    routes: routes.filter(
      ({ id }) => /^(auth|users|roles|claims)\//.test(id) || id === 'health/system' || (audit && id === 'audit/list'),
    ),
    services: { ...services, ...(audit && { audit }), health: createHealth({}) },
    ...(audit && { audit: createHttpAudit(audit) }),
    authenticate,
    parseFilter,
    onOutcome: () => {},
    checkReplies: true,
  })
  const send = sendTo(app)
  return async (method, path, { token, apiKey, body, address = '192.0.2.1', headers = {} } = {}) => {
    const at = path.startsWith('/.') ? path : `/api/v1${path}`
    const message = {
      method,
      headers: {
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    const response = await send(at, message, address)
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
}

interface Options {
  readonly store?: Store
  readonly publish?: Publish
  readonly passwords?: Passwords
  readonly lockout?: LockoutPolicy
  readonly pepper?: Uint8Array
  /** The setting of root's password. */
  readonly configured?: { readonly password: string | undefined; readonly use?: RootPasswordUse }
  readonly trusted?: Parameters<typeof openIdentity>[0]['trusted']
}

/** The identity of a new service, in memory unless a store is given; root has `rootPassword`. */
export const newIdentity = async ({
  store,
  passwords = newPasswords(),
  lockout = lockoutPolicy,
  pepper = new Uint8Array(32),
  configured = { password: rootPassword },
  publish,
  trusted,
}: Options = {}): Promise<Identity> => {
  const at = store ?? (await createMemoryStore())
  return openIdentity({
    store: at,
    publish: publish ?? (await openEvents(at, { every })).publish,
    passwords,
    keys: identityKeys,
    pepper,
    sha256: text => hash('sha256', text),
    policy: { password: passwordPolicy, lockout, tokenLifetime },
    trusted,
    rootPassword: configured.password,
    rootPasswordUse: configured.use,
  })
}
