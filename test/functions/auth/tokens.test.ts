import { generateKeyPairSync, hash } from 'node:crypto'
import { importPKCS8, importSPKI } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAccounts, principalOf } from '#lib/auth/accounts.ts'
import { createPasswords, type Passwords } from '#lib/auth/passwords.ts'
import { createSignIn } from '#lib/auth/sign-in.ts'
import { createTokens } from '#lib/auth/tokens.ts'
import { createHealth } from '#lib/health/health.ts'
import { createApp } from '#lib/http/app.ts'
import { workersFrom } from '#lib/platform/workers.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { routes } from '#functions/routes.gen.ts'
import type { Answer } from '../../support/harness.ts'

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const password = 'Correct-Horse-9-Battery'
const start = Date.UTC(2026, 5, 1)

describe('identity over HTTP', () => {
  let passwords: Passwords
  let ask: (method: string, path: string, more?: { token?: string; body?: unknown }) => Promise<Answer>

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    passwords = createPasswords({
      startWorker: workersFrom(new URL('../../../lib/entry/main.ts', import.meta.url)),
      cost: 4,
    })
    const tokens = createTokens({
      algorithm: 'RS256',
      signingKey: await importPKCS8(pair.privateKey, 'RS256'),
      verificationKey: await importSPKI(pair.publicKey, 'RS256'),
      keyId: 'k1',
      lifetime: 3600,
      digest: text => hash('sha256', text),
    })
    const accounts = createAccounts({ store: await createMemoryStore(), passwords })
    await accounts.ensureRoot(password)
    const app = createApp({
      routes: routes.filter(({ id }) => id.startsWith('auth/') || id === 'health/system'),
      services: { tokens, signIn: createSignIn({ accounts, passwords, tokens }), health: createHealth({}) },
      authenticate: async ({ bearer }) =>
        bearer === undefined ? undefined : principalOf(accounts, (await tokens.verify(bearer)).uid),
      observe: () => {},
      checkReplies: true,
    })
    ask = async (method, path, { token, body } = {}) => {
      const response = await app.fetch(
        new Request(`https://host.example.test/api/v1${path}`, {
          method,
          ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
      return { status: response.status, body: await response.json(), headers: response.headers }
    }
  })
  afterEach(async () => {
    vi.useRealTimers()
    await passwords.close()
  })
  const signIn = async (): Promise<string> =>
    (await ask('POST', '/auth/token', { body: { email: 'root', password } })).body.token

  test('signing in gives a token that opens what needs one, for an hour', async () => {
    const answer = await ask('POST', '/auth/token', { body: { username: 'Root@localhost', password } })
    expect(answer).toMatchObject({
      status: 200,
      body: { email: 'root@localhost', expires_at: start / 1000 + 3600, token: expect.any(String) },
    })
    expect(Object.keys(answer.body).sort()).toEqual(['email', 'expires_at', 'token'])
    const { token } = answer.body
    expect((await ask('GET', '/health/system', { token })).status).toBe(200)
    vi.setSystemTime(start + 3_601_000)
    expect(await ask('GET', '/health/system', { token })).toMatchObject({
      status: 401,
      body: { code: 401, message: expect.stringContaining('token is expired'), error: 'unauthorized_client' },
    })
  })

  test.for([
    [{ email: 'root', password: 'wrong' }, 401, 'invalid_grant'],
    [{ email: 'nobody', password }, 401, 'invalid_grant'],
    [{ email: 'root' }, 400, 'invalid_request'],
    [{ password }, 400, 'invalid_request'],
  ] as const)('signing in with %o is %s %s', async ([body, status, error]) => {
    expect(await ask('POST', '/auth/token', { body })).toMatchObject({
      status,
      body: { code: status, message: expect.any(String), error, error_description: expect.any(String) },
    })
  })

  test('a valid token is said to be valid, in both forms', async () => {
    const token = await signIn()
    expect(await ask('POST', '/auth/token/validate', { body: { token } })).toMatchObject({
      status: 200,
      body: { valid: true },
    })
    expect(await ask('GET', '/auth/token/validate', { token })).toMatchObject({
      status: 200,
      body: { valid: true, message: expect.any(String), code: 200 },
    })
  })

  const forgery = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"uid":"x"}').toString('base64url')}.`
  test.for([
    ['an expired one', undefined, 401, 'expired'],
    ['a malformed one', 'x.y.z', 401, 'not valid'],
    ['one without a signature', forgery, 401, 'not valid'],
    ['none', '', 400, 'required'],
  ] as const)('%s is not valid, and the answer says why', async ([, given, status, told]) => {
    const token = given ?? (await signIn())
    vi.setSystemTime(start + 3_601_000)
    const expected = { status, body: { code: status, message: expect.stringContaining(told), valid: false } }
    expect(await ask('POST', '/auth/token/validate', { body: { token } })).toMatchObject(expected)
    expect(await ask('GET', '/auth/token/validate', token ? { token } : {})).toMatchObject(expected)
    if (token) expect(await ask('GET', '/health/system', { token })).toMatchObject({ status: 401, body: { code: 401 } })
  })
})
