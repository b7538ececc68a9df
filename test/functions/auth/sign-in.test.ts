import { createPublicKey } from 'node:crypto'
import { jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPasswords } from '#lib/auth/passwords.ts'
import { createThreadHasher } from '#lib/auth/thread-hasher.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Answer } from '../../support/harness.ts'
import { type Ask, askOf, newIdentity, rootPassword as password } from '../../support/identity.ts'

const start = Date.UTC(2026, 5, 1)

describe('signing in and out', () => {
  let ask: Ask
  let root: string

  const signIn = async (body: object = { email: 'root', password }): Promise<Answer> =>
    ask('POST', '/auth/token', { body })
  const opens = async (token: string): Promise<number> => (await ask('GET', '/health/system', { token })).status

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    ask = askOf(await newIdentity())
    root = (await signIn()).body.token
  })
  afterEach(() => void vi.useRealTimers())

  test.for(['root', 'ROOT', 'root@localhost'])('accepts %s as email or as username', async name => {
    for (const body of [
      { email: name, password },
      { email: '', username: name, password },
      { email: name, password, api_key: '' },
    ])
      expect(await signIn(body)).toMatchObject({ status: 200, body: { email: 'root@localhost' } })
  })

  test.for([
    [{}, 'email, username or api_key'],
    [{ email: '' }, 'email, username or api_key'],
    [{ email: 'root' }, 'Password'],
    [{ username: 'root', password: '' }, 'Password'],
    [{ api_key: 'not base64 of two' }, 'KEY:SECRET'],
    [{ email: 7 }, 'text'],
    ['{"email":', 'JSON'],
    ['', 'empty'],
  ] as const)('%o is a bad request in both shapes', async ([body, reason]) => {
    const answer = await ask('POST', '/auth/token', { body })
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 400, message: expect.stringContaining(reason), error: 'invalid_request' },
    })
    expect(answer.body.error_description).toBe(answer.body.message)
  })

  test('accepts a form too', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams({ username: 'root', password }).toString()
    expect((await ask('POST', '/auth/token', { body, headers })).status).toBe(200)
  })

  test('with an API key issues a token that ends with the key', async () => {
    const create = (more: object): Promise<Answer> => ask('POST', '/auth/api_keys', { token: root, body: more })
    const wide = (await create({ name: 'wide' })).body
    const narrow = (await create({ name: 'narrow', claims: ['LIST_API_KEY'] })).body
    const brief = (await create({ name: 'brief', expires_at: new Date(start + 60_000).toISOString() })).body
    const [wideToken, narrowToken, briefToken] = await Promise.all(
      [wide, narrow, brief].map(async key => (await signIn({ api_key: key.encoded })).body.token as string),
    )
    const payload = JSON.parse(Buffer.from(narrowToken!.split('.')[1]!, 'base64url').toString())
    expect(payload).toMatchObject({ api_key_id: narrow.id, username: 'root', roles: [], claims: ['LIST_API_KEY'] })
    expect((await ask('GET', '/auth/users', { token: wideToken })).status).toBe(200)
    expect((await ask('GET', '/auth/users', { token: narrowToken })).status).toBe(403)
    expect((await ask('GET', '/auth/api_keys', { token: narrowToken })).status).toBe(200)

    await ask('PUT', '/auth/api_keys/wide/revoke', { token: root })
    expect(await opens(wideToken!)).toBe(401)
    await ask('DELETE', '/auth/api_keys/narrow', { token: root })
    expect(await opens(narrowToken!)).toBe(401)
    vi.setSystemTime(start + 60_001)
    expect(await opens(briefToken!)).toBe(401)
    for (const key of [wide, narrow, brief])
      expect(await signIn({ api_key: key.encoded })).toMatchObject({ status: 401, body: { error: 'invalid_grant' } })
  })

  test('out ends this token and no other, and validation refuses it', async () => {
    const other = (await signIn()).body.token
    expect(await ask('DELETE', '/auth/token', { token: root })).toMatchObject({ status: 202, body: { code: 202 } })
    expect(await opens(root)).toBe(401)
    for (const answer of [
      await ask('POST', '/auth/token/validate', { body: { token: root } }),
      await ask('GET', '/auth/token/validate', { token: root }),
    ])
      expect(answer).toMatchObject({ status: 401, body: { valid: false } })
    expect(await opens(other)).toBe(200)
    expect((await ask('DELETE', '/auth/token', { token: root })).status).toBe(401)
    const { encoded } = (await ask('POST', '/auth/api_keys', { token: other, body: { name: 'k' } })).body
    expect((await ask('DELETE', '/auth/token', { apiKey: encoded })).status).toBe(400)
  })

  test('the token of a deleted user is not valid', async () => {
    const body = { username: 'jane', name: 'Jane', email: 'jane@example.test', password }
    await ask('POST', '/auth/users', { token: root, body })
    const { token } = (await signIn({ username: 'jane', password })).body
    await ask('DELETE', '/auth/users/jane', { token: root })
    expect((await ask('POST', '/auth/token/validate', { body: { token } })).status).toBe(401)
  })

  describe('the own password', () => {
    const next = 'Another-Horse-7-Battery'
    const change = (body: object, token = root): Promise<Answer> => ask('PUT', '/auth/password', { token, body })

    test('is changed with the present one, and every token ends', async () => {
      const other = (await signIn()).body.token
      expect((await change({ password, new_password: next })).status).toBe(202)
      for (const token of [root, other]) expect(await opens(token)).toBe(401)
      expect((await signIn()).status).toBe(401)
      expect((await signIn({ email: 'root', password: next })).status).toBe(200)
    })

    test('is not changed with a wrong one, which counts as a failed sign-in', async () => {
      for (let at = 0; at < 5; at += 1)
        expect(await change({ password: 'wrong', new_password: next })).toMatchObject({
          status: 403,
          body: { error: 'password_mismatch' },
        })
      expect((await change({ password, new_password: next })).status).toBe(429)
      expect((await signIn()).status).toBe(429)
    })

    test('must satisfy the rules', async () => {
      expect(await change({ password, new_password: 'weak' })).toMatchObject({
        status: 400,
        body: { error: 'password_validation' },
      })
      expect(await opens(root)).toBe(200)
    })
  })

  test('a password of more than 72 bytes is wrong, even if it begins with the right one', async () => {
    const longest = `Aa9-${'x'.repeat(68)}`
    const body = { username: 'jane', name: 'Jane', email: 'jane@example.test', password: longest }
    expect((await ask('POST', '/auth/users', { token: root, body })).status).toBe(201)
    expect((await signIn({ username: 'jane', password: longest })).status).toBe(200)
    expect((await signIn({ username: 'jane', password: `${longest}y` })).status).toBe(401)
  })

  test('the public keys verify the tokens', async () => {
    const { status, body } = await ask('GET', '/.well-known/jwks.json')
    expect(status).toBe(200)
    expect(body.keys).toMatchObject([{ kty: 'RSA', alg: 'RS256', use: 'sig', kid: expect.any(String) }])
    expect(JSON.stringify(body)).not.toContain('"d"')
    const key = createPublicKey({ key: body.keys[0], format: 'jwk' })
    expect((await jwtVerify(root, key)).payload).toMatchObject({ username: 'root' })
  })
})

describe('hashes of another method', () => {
  const startWorker = createStartWorker(new URL('../../../lib/entry/main.ts', import.meta.url))

  test('are renewed at the next sign-in, in both directions', async () => {
    const bcrypt = createPasswords({ hasher: createThreadHasher(startWorker), method: { kind: 'bcrypt', cost: 4 } })
    const sha256 = createPasswords({ hasher: createThreadHasher(startWorker), method: { kind: 'sha256', cost: 1000 } })
    try {
      for (const [old, now] of [
        [bcrypt, sha256],
        [sha256, bcrypt],
      ] as const) {
        const store = await createMemoryStore()
        let hash = ''
        const seen = {
          ...now,
          // The first start hashes by the old method, the sign-in by the new one.
          hash: async (text: string) => (hash = await (hash === '' ? old : now).hash(text)),
        }
        const ask = askOf(await newIdentity({ store, passwords: seen }))
        expect(now.isOutdated(hash)).toBe(true)
        expect((await ask('POST', '/auth/token', { body: { email: 'root', password } })).status).toBe(200)
        expect(now.isOutdated(hash)).toBe(false)
        expect((await ask('POST', '/auth/token', { body: { email: 'root', password } })).status).toBe(200)
        expect((await ask('POST', '/auth/token', { body: { email: 'root', password: 'x' } })).status).toBe(401)
      }
    } finally {
      await Promise.all([bcrypt.close(), sha256.close()])
    }
  })
})
