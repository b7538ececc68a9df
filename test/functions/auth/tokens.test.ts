import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Answer } from '../../support/harness.ts'
import { type Ask, askOf, newIdentity, rootPassword as password } from '../../support/identity.ts'

const start = Date.UTC(2026, 5, 1)

describe('identity over HTTP', () => {
  let ask: Ask

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    ask = askOf(await newIdentity())
  })
  afterEach(() => void vi.useRealTimers())
  const signIn = async (): Promise<string> =>
    (await ask('POST', '/auth/token', { body: { email: 'root', password } })).body.token

  test('signing in issues a token that authenticates requests for an hour', async () => {
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

  test('both endpoints confirm a valid token', async () => {
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
  ] as const)('%s is not valid, and the answer says why', async ([, given, status, reason]) => {
    const token = given ?? (await signIn())
    vi.setSystemTime(start + 3_601_000)
    const expected = { status, body: { code: status, message: expect.stringContaining(reason), valid: false } }
    expect(await ask('POST', '/auth/token/validate', { body: { token } })).toMatchObject(expected)
    expect(await ask('GET', '/auth/token/validate', token ? { token } : {})).toMatchObject(expected)
    if (token) expect(await ask('GET', '/health/system', { token })).toMatchObject({ status: 401, body: { code: 401 } })
  })

  describe('API keys', () => {
    const create = async (body: object): Promise<Answer> =>
      ask('POST', '/auth/api_keys', { token: await signIn(), body })
    const works = async (apiKey: string): Promise<number> => (await ask('GET', '/auth/api_keys', { apiKey })).status

    test('are created with a credential that is shown once and has the rights of the owner', async () => {
      const made = await create({ name: 'Build farm', created_at: 'ignored' })
      expect(made).toMatchObject({
        status: 201,
        body: { name: 'Build farm', revoked: false, created_at: new Date(start).toISOString() },
      })
      const { id, key, encoded } = made.body
      expect(Buffer.from(encoded, 'base64').toString()).toMatch(new RegExp(`^${key}:.{43}$`))
      expect(await works(encoded)).toBe(200)
      const token = await signIn()
      for (const reference of [id, 'build FARM']) {
        const shown = await ask('GET', `/auth/api_keys/${encodeURIComponent(reference)}`, { token })
        expect(shown).toMatchObject({ status: 200, body: { id, key, name: 'Build farm', encoded: '', revoked: false } })
        expect(JSON.stringify(shown.body)).not.toMatch(/digest|secret/)
      }
      expect((await ask('GET', '/auth/api_keys', { token })).body).toHaveLength(1)
    })

    test('may be created with a given key and secret; the key is found in any spelling', async () => {
      const { body } = await create({ name: 'own', key: 'ci key:1', secret: 'a:b c' })
      expect(body.key).toBe('CI_KEY_1')
      expect(await works(body.encoded)).toBe(200)
      expect(await works(Buffer.from('ci_key_1:a:b c').toString('base64'))).toBe(200)
    })

    test('end at once when they are revoked, expire or are deleted; a token takes precedence over them', async () => {
      const token = await signIn()
      const [first, second, third] = [
        (await create({ name: 'first' })).body,
        (await create({ name: 'second', expires_at: new Date(start + 60_000).toISOString() })).body,
        (await create({ name: 'third' })).body,
      ]
      expect(await ask('PUT', '/auth/api_keys/first/revoke', { token })).toMatchObject({
        status: 202,
        body: { code: 202 },
      })
      expect(await ask('GET', '/auth/api_keys', { apiKey: first.encoded })).toMatchObject({
        status: 401,
        body: { code: 401, error: 'unauthorized_client', message: expect.stringContaining('revoked') },
      })
      expect((await ask('GET', '/auth/api_keys', { token, apiKey: first.encoded })).status).toBe(200)
      expect((await ask('GET', '/auth/api_keys/first', { token })).body).toMatchObject({
        revoked: true,
        revoked_at: new Date(start).toISOString(),
      })
      expect(await works(second.encoded)).toBe(200)
      vi.setSystemTime(start + 60_001)
      expect(await works(second.encoded)).toBe(401)
      expect(await ask('DELETE', `/auth/api_keys/${third.id}`, { token })).toMatchObject({ status: 202 })
      expect(await works(third.encoded)).toBe(401)
      expect(await ask('DELETE', `/auth/api_keys/${third.id}`, { token })).toMatchObject({ status: 404 })
    })

    test('can be narrowed to some claims, and then do not act as a super user', async () => {
      const { body } = await create({ name: 'narrow', claims: ['LIST_API_KEY'] })
      expect(await works(body.encoded)).toBe(200)
      expect(await ask('POST', '/auth/api_keys', { apiKey: body.encoded, body: { name: 'x' } })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('SUPER_USER') },
      })
      expect(await ask('DELETE', '/auth/api_keys/narrow', { apiKey: body.encoded })).toMatchObject({ status: 403 })
    })

    test('can be narrowed to claims that operators have added', async () => {
      const token = await signIn()
      await ask('POST', '/auth/claims', { token, body: { name: 'TEAM_A' } })
      const { status, body } = await create({ name: 'team', claims: ['LIST_API_KEY', 'team a'] })
      expect(status).toBe(201)
      expect(body.claims).toEqual(['LIST_API_KEY', 'TEAM_A'])
    })

    test.for([
      [{ claims: ['LIST_VMS'] }, 400, 'There is no claim LIST_VMS. Did you mean LIST_VM? GET /api/v1/auth/claims'],
      [{ claims: ['FLY_TO_THE_MOON'] }, 400, 'There is no claim FLY_TO_THE_MOON. GET'],
      [{ claims: ['LIST_REVERSE_PROXY_HOSTS'] }, 400, 'feature that is not there yet'],
      [{ expire: '2030-01-01T00:00:00Z' }, 400, 'expire: not known here; an API key has name, key, secret, revoked'],
      [{ expires_at: 'soon' }, 400, 'must be a time of RFC 3339'],
      [{ user_id: 'nobody' }, 404, 'There is no user with the id, e-mail or user name nobody.'],
    ] as const)('with %o are refused, and the answer says why', async ([wrong, status, reason]) => {
      expect(await create({ name: 'wrong', ...wrong })).toMatchObject({
        status,
        body: { message: expect.stringContaining(reason) },
      })
      expect((await ask('GET', '/auth/api_keys', { token: await signIn() })).body).toEqual([])
    })

    test('accept any reference to a user, and the members of a record that a client sends back', async () => {
      const { id } = (await ask('GET', '/auth/users/root', { token: await signIn() })).body
      for (const user_id of [id, 'ROOT', 'root@localhost'])
        expect(await create({ name: user_id, user_id })).toMatchObject({ status: 201, body: { user_id: id } })
      const { body } = await create({ name: 'record' })
      const { key: _, user_id: __, ...record } = body
      expect((await create({ ...record, name: 'again', revoked_at: 'never', updated_at: 3 })).status).toBe(201)
    })

    test('an unknown key and a wrong secret get the same answer', async () => {
      const { body } = await create({ name: 'one' })
      const wrong = [`${body.key}:wrong`, 'NOBODY:wrong', `${body.key}:`].map(text =>
        Buffer.from(text).toString('base64'),
      )
      const answers = await Promise.all(wrong.map(apiKey => ask('GET', '/auth/api_keys', { apiKey })))
      for (const answer of answers) expect(answer).toMatchObject({ status: 401, body: answers[0]!.body })
    })

    test.for([
      ['no name', {}, 400, 'name'],
      ['a claim that is none', { name: 'a', claims: ['FLY'] }, 400, 'claims'],
      ['a bad time', { name: 'a', expires_at: 'soon' }, 400, 'expires_at'],
      ['a name in use', { name: 'TAKEN' }, 409, 'name'],
      ['a key in use', { name: 'b', key: 'taken' }, 409, 'key'],
    ] as const)('with %s are refused', async ([, body, status, named]) => {
      await create({ name: 'taken', key: 'TAKEN' })
      expect(await create(body)).toMatchObject({ status, body: { message: expect.stringContaining(named) } })
    })

    test('no credential makes the service fail, whatever its text', async () => {
      await create({ name: 'one' })
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.base64String()), async text => {
          expect((await ask('GET', '/auth/api_keys', { apiKey: text.trim() })).status).toBe(401)
        }),
        { numRuns: 200 },
      )
    })
  })
})
