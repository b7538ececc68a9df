import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test, vi } from 'vitest'
import { createApp } from '#lib/http/app.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { openListener } from '#lib/listener/listener.ts'
import { routes } from '#functions/routes.gen.ts'
import { askOf, newIdentity, rootPassword, tokenLifetime } from '../../support/identity.ts'

/** A service, and one connection to it that stays. */
const connect = async () => {
  const identity = await newIdentity()
  const app = createApp({
    routes: routes.filter(({ id }) => id === 'users/list' || id === 'auth/validate-own-token'),
    services: identity.services,
    authenticate: identity.authenticate,
    parseFilter: async () => () => true,
    onOutcome: () => {},
    checkReplies: true,
  })
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    fetch: app.fetch,
    upgrade: app.upgrade,
    direct: app.direct,
    isWebSocket: app.isWebSocket,
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  const get = async (path: string, token: string): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const sent = request(`${listener.url}/api/v1/auth/${path}`, {
      agent,
      headers: { authorization: `Bearer ${token}` },
    })
    sent.once('error', reject)
    sent.once('response', response => {
      ports.add(sent.socket?.localPort)
      void text(response).then(() => resolve(response.statusCode!))
    })
    sent.end()
    return promise
  }
  return {
    ask: askOf(identity),
    list: (token: string) => get('users', token),
    validate: (token: string) => get('token/validate', token),
    ports,
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await listener.close()
    },
  }
}

describe('a token that has ended is refused at once, also on a connection that used it before', () => {
  const password = 'Ann-Signs-In-1'
  const cases = {
    'its sign-out': (ask, { token }) => ask('DELETE', '/auth/token', { token }),
    'a new password': (ask, { root }) =>
      ask('PUT', '/auth/users/ann', { token: root, body: { password: `${password}2` } }),
    'the removal of its user': (ask, { root }) => ask('DELETE', '/auth/users/ann', { token: root }),
  } satisfies Record<
    string,
    (ask: ReturnType<typeof askOf>, tokens: { root: string; token: string }) => Promise<unknown>
  >

  test.for(Object.keys(cases) as (keyof typeof cases)[])('%s', async name => {
    await using service = await connect()
    const { ask, list, validate, ports } = service
    const signIn = async (username: string, password: string): Promise<string> =>
      (await ask('POST', '/auth/token', { body: { username, password } })).body.token
    const root = await signIn('root', rootPassword)
    const ann = { username: 'ann', name: 'Ann', email: 'ann@example.test', password, claims: ['LIST_USER'] }
    await ask('POST', '/auth/users', { token: root, body: ann })
    const token = await signIn('ann', password)
    expect([await list(token), await validate(token), await list(token)]).toEqual([200, 200, 200])
    await cases[name](ask, { root, token })
    expect([await list(token), await validate(token), await list(root)]).toEqual([401, 401, 200])
    expect(ports.size).toBe(1)
  })

  test('a right that is revoked, and granted', async () => {
    await using service = await connect()
    const { ask, list, ports } = service
    const root = (await ask('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })).body.token
    const ann = { username: 'ann', name: 'Ann', email: 'ann@example.test', password, claims: ['LIST_USER'] }
    await ask('POST', '/auth/users', { token: root, body: ann })
    const { token } = (await ask('POST', '/auth/token', { body: { username: 'ann', password } })).body
    expect(await list(token)).toBe(200)
    await ask('DELETE', '/auth/users/ann/claims/LIST_USER', { token: root })
    expect(await list(token)).toBe(403)
    await ask('POST', '/auth/users/ann/claims', { token: root, body: { name: 'LIST_USER' } })
    expect([await list(token), await list(root), await list(`${token}x`), await list(token)]).toEqual([
      200, 200, 401, 200,
    ])
    expect(ports.size).toBe(1)
  })

  test('its expiry', async () => {
    await using service = await connect()
    const { ask, list, ports } = service
    const { token } = (await ask('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })).body
    expect(await list(token)).toBe(200)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + (tokenLifetime + 1) * 1000 })
    try {
      expect(await list(token)).toBe(401)
    } finally {
      vi.useRealTimers()
    }
    expect(ports.size).toBe(1)
  })
})
