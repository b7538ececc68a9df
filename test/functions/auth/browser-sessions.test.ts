import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Answer } from '../../support/harness.ts'
import { type Ask, askOf, newIdentity, rootPassword as password } from '../../support/identity.ts'

const start = Date.UTC(2026, 5, 1)
const console = { 'x-vmhost-console': '1' }
const next = 'Another-Horse-7-Battery'

describe('a session of a browser', () => {
  let ask: Ask

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    ask = askOf(await newIdentity())
  })
  afterEach(() => void vi.useRealTimers())

  const cookieOf = (answer: Answer): string => answer.headers.getSetCookie()[0] ?? ''
  /** What the browser sends back. */
  const pairOf = (answer: Answer): string => cookieOf(answer).split(';')[0]!
  const open = (headers: Record<string, string> = console): Promise<Answer> =>
    ask('POST', '/auth/session', { body: { name: 'root', password }, headers })
  const whoAmI = (cookie: string, headers: Record<string, string> = console): Promise<Answer> =>
    ask('GET', '/auth/session', { headers: { cookie, ...headers } })

  test('tells who is signed in, and never the token', async () => {
    const answer = await open()
    expect(answer).toMatchObject({ status: 201, body: { username: 'root', super_user: true, roles: ['SUPER_USER'] } })
    expect(JSON.stringify(answer.body)).not.toContain(pairOf(answer).split('=')[1])
    expect(await whoAmI(pairOf(answer))).toMatchObject({ status: 200, body: answer.body })
  })

  test('is in a cookie that no script reads, that no other site sends, and that a browser can hold', async () => {
    const cookie = cookieOf(await open({ ...console, 'x-forwarded-proto': 'https' }))
    expect(cookie).toMatch(/^__Host-vmhost=[\w.-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure$/)
    expect(cookie.length).toBeLessThan(4096)
  })

  test('counts only together with the header of the console', async () => {
    const cookie = pairOf(await open())
    expect((await whoAmI(cookie, {})).status).toBe(401)
    const change = { cookie, origin: 'https://other.example.org' }
    expect((await ask('POST', '/auth/tickets', { body: { path: '/v1/ws/subscribe' }, headers: change })).status).toBe(
      401,
    )
  })

  test('is opened for nobody without that header', async () => {
    const answer = await open({})
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining('X-VMHost-Console') } })
    expect(cookieOf(answer)).toBe('')
  })

  test('gives way to a token and to an API key', async () => {
    const cookie = pairOf(await open())
    const headers = { cookie, ...console }
    expect((await ask('GET', '/auth/session', { token: 'a.b.c', headers })).status).toBe(401)
    expect((await ask('GET', '/auth/session', { apiKey: 'nonsense', headers })).status).toBe(401)
  })

  test('ends with its time, with a sign-out, and with a change of the password', async () => {
    const cookie = pairOf(await open())
    vi.setSystemTime(start + 3_601_000)
    expect((await whoAmI(cookie)).status).toBe(401)

    const second = pairOf(await open())
    const signedOut = await ask('DELETE', '/auth/token', { headers: { cookie: second, ...console } })
    expect(signedOut.status).toBe(202)
    expect(cookieOf(signedOut)).toMatch(/vmhost=; Path=\/; Max-Age=0;/)
    expect((await whoAmI(second)).status).toBe(401)

    const third = pairOf(await open())
    const changed = await ask('PUT', '/auth/password', {
      body: { password, new_password: next },
      headers: { cookie: third, ...console },
    })
    expect(changed.status).toBe(202)
    expect((await whoAmI(third)).status).toBe(401)
  })

  test('is refused with a wrong password, as often as a sign-in is', async () => {
    const attempt = (): Promise<Answer> =>
      ask('POST', '/auth/session', { body: { name: 'root', password: 'wrong' }, headers: console })
    for (let count = 0; count < 5; count++) expect((await attempt()).status).toBe(401)
    expect((await open()).status).toBe(429)
  })

  describe('by a link', () => {
    const issue = async (): Promise<string> => {
      const { body } = await ask('POST', '/auth/links', { headers: { cookie: pairOf(await open()), ...console } })
      return body.fragment.replace('#/link/', '')
    }
    const use = (secret: string, chosen = next, headers: Record<string, string> = console): Promise<Answer> =>
      ask('POST', '/auth/links/use', { body: { secret, password: chosen }, headers })

    test('sets the password and signs in, once', async () => {
      const secret = await issue()
      const answer = await use(secret)
      expect(answer).toMatchObject({ status: 201, body: { username: 'root' } })
      expect((await whoAmI(pairOf(answer))).status).toBe(200)
      expect((await open()).status).toBe(401)
      expect((await use(secret)).status).toBe(401)
    })

    test('is used by one of two at the same time', async () => {
      const secret = await issue()
      const answers = await Promise.all([use(secret), use(secret, 'Third-Horse-8-Battery')])
      expect(answers.map(({ status }) => status).filter(status => status === 201)).toHaveLength(1)
    })

    test('stays good when the password is too weak', async () => {
      const secret = await issue()
      expect((await use(secret, 'weak')).status).toBe(400)
      expect((await use(secret)).status).toBe(201)
    })

    test('ends after 24 hours, and when a newer one is made', async () => {
      const first = await issue()
      const second = await issue()
      expect((await use(first)).status).toBe(401)
      vi.setSystemTime(start + 24 * 3_600_000)
      expect((await use(second)).status).toBe(401)
    })

    test('is used by nobody without the header of the console', async () => {
      const secret = await issue()
      expect((await use(secret, next, {})).status).toBe(403)
      expect((await use(secret)).status).toBe(201)
    })
  })
})

test('a GET that changes something gets no right from a cookie', async () => {
  const { createApp } = await import('#lib/http/app.ts')
  const { endpoint } = await import('#lib/http/endpoint.ts')
  const z = await import('zod')
  const changing = endpoint({
    method: 'GET',
    path: '/v1/switch',
    also: ['PUT /v1/switch'],
    summary: 'Switch',
    access: 'signed-in',
    effect: 'change',
    uses: [],
    reply: z.object({}),
  }).handle(() => ({}))
  const app = createApp({
    routes: [{ id: 'test/switch', endpoint: changing }],
    services: {},
    authenticate: ({ bearer }) =>
      bearer === 'secret'
        ? { id: '1', username: 'a', email: 'a', roles: [], claims: new Set(), superUser: false }
        : undefined,
    onOutcome: () => {},
    checkReplies: true,
  })
  const headers = { ...console, cookie: 'other=1; __Host-vmhost=secret' }
  const statusOf = async (method: string): Promise<number> =>
    (await app.fetch(new Request('https://host.test/api/v1/switch', { method, headers }))).status
  expect(await statusOf('GET')).toBe(401)
  expect(await statusOf('PUT')).toBe(200)
})
