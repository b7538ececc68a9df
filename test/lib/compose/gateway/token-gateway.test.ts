import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { routes as table } from '#functions/routes.gen.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import type { AuditFacts } from '#lib/audit/entry.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { createReplyOptions } from '#lib/compose/control.ts'
import type { Services } from '#lib/compose/services.ts'
import { createTokenGateway } from '#lib/compose/gateway/token-gateway.ts'
import { createApp } from '#lib/http/app.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { askOf, identityKeys, newIdentity, rootPassword } from '../../../support/identity.ts'

const routes = table as readonly Route[]
const origin = 'https://ui.example.test'
const replies = createReplyOptions({ cors_origins: [origin] })
const start = Date.UTC(2026, 5, 1)

/** What differs between two replies to the same request. */
const describeReply = async (response: Response) => {
  const { 'x-request-id': _, ...headers } = Object.fromEntries(response.headers)
  return { status: response.status, headers, body: await response.text() }
}

describe('the gateway', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: start }))
  afterEach(() => void vi.useRealTimers())

  const open = async (keys: () => Promise<readonly object[]> = identityKeys.publicKeys) => {
    const identity = await newIdentity()
    const loadPublicKeys = vi.fn<typeof keys>(keys)
    const passed = new Proxy({} as Services, { get: () => new Proxy(() => ({}), { get: () => () => ({}) }) })
    const app = createApp({
      ...replies,
      routes,
      services: passed,
      authenticate: identity.authenticate,
      parseFilter,
      onOutcome: () => {},
      checkReplies: false,
    })
    const refused: AuditFacts[] = []
    const gateway = createTokenGateway({
      ...replies,
      routes,
      algorithm: 'RS256',
      loadPublicKeys,
      onRefused: facts => void refused.push(facts),
    })
    const refuse = (request: Request) => gateway(request, '192.0.2.1')
    const signIn = async (): Promise<string> =>
      (await askOf(identity)('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })).body.token
    return { app, refuse, refused, signIn, loadPublicKeys }
  }
  const toRequest = (method: string, path: string, token: string): Request =>
    new Request(`https://edge.example.test${path}`, { method, headers: { authorization: `Bearer ${token}`, origin } })

  test('refuses a bad or expired token on every endpoint exactly as the service does', async () => {
    const { app, refuse, signIn } = await open()
    const expired = await signIn()
    vi.setSystemTime(start + 3_601_000)
    const good = await signIn()
    const forged = `${good.slice(0, -4)}AAAA`
    let refused = 0
    for (const token of [expired, forged, 'a.b.c', 'x'.repeat(20_000)])
      for (const { endpoint } of routes) {
        const path = toServedPath(endpoint.path).replace(/\{\w+\}/g, 'something')
        const answered = await refuse(toRequest(endpoint.method, path, token))
        const expected = await describeReply(await app.fetch(toRequest(endpoint.method, path, token)))
        if (!answered) {
          expect(expected.status, `${endpoint.method} ${path}`).not.toBe(401)
          continue
        }
        expect(await describeReply(answered)).toEqual(expected)
        refused += 1
      }
    expect(refused).toBeGreaterThan(400)
  })

  test('tells of each refusal as the audit records it, and of nothing else', async () => {
    const { refuse, refused, signIn } = await open()
    await refuse(toRequest('DELETE', '/api/v1/auth/users/jane', await signIn()))
    expect(refused).toEqual([])
    const reply = await refuse(toRequest('DELETE', '/api/v1/auth/users/jane', 'a.b.c'))
    expect(refused).toMatchObject([
      {
        request_id: reply!.headers.get('x-request-id'),
        address: '192.0.2.1',
        operation: 'users/delete',
        method: 'DELETE',
        target: { id: 'jane' },
        outcome: 'refused',
        status: 401,
      },
    ])
  })

  test('passes on good tokens, other credentials, and what it does not know', async () => {
    const { refuse, signIn } = await open()
    const good = await signIn()
    expect(await refuse(toRequest('GET', '/api/v1/auth/users', good))).toBeUndefined()
    expect(await refuse(toRequest('GET', '/api/nothing', 'a.b.c'))).toBeUndefined()
    expect(await refuse(toRequest('GET', '/api/health/probe', 'a.b.c'))).toBeUndefined()
    const headers = { 'x-api-key': 'whatever' }
    expect(await refuse(new Request('https://edge.example.test/api/v1/auth/users', { headers }))).toBeUndefined()
    expect(await refuse(new Request('https://edge.example.test/api/v1/auth/users'))).toBeUndefined()
  })

  test('asks for keys at an unknown one, and passes on what it may not ask about yet', async () => {
    let published: readonly object[] = []
    const { refuse, signIn, loadPublicKeys } = await open(async () => published)
    const good = await signIn()
    const request = (): Request => toRequest('GET', '/api/v1/auth/users', good)
    expect((await refuse(request()))?.status).toBe(401)
    expect(loadPublicKeys).toHaveBeenCalledTimes(1)
    published = await identityKeys.publicKeys()
    // Asked a moment ago: the control may have got a new key since.
    expect(await refuse(request())).toBeUndefined()
    expect(loadPublicKeys).toHaveBeenCalledTimes(1)
    vi.setSystemTime(start + 11_000)
    expect(await refuse(request())).toBeUndefined()
    expect(await refuse(request())).toBeUndefined()
    expect(loadPublicKeys).toHaveBeenCalledTimes(2)
  })

  test('checks no tokens that are signed with a secret', async () => {
    const loadPublicKeys = async () => []
    const refuse = createTokenGateway({ ...replies, routes, algorithm: 'HS256', loadPublicKeys, onRefused() {} })
    expect(await refuse(toRequest('GET', '/api/v1/auth/users', 'a.b.c'), '')).toBeUndefined()
  })
})
