import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { type Answer, json, scriptFetch } from './scripted-fetch.ts'

const now = Date.parse('2026-01-02T03:04:05Z')
beforeEach(() => void vi.useFakeTimers({ now }))
afterEach(() => void vi.useRealTimers())

const url = 'https://host-1.example.test:8443'
const bodyOf = async (request: Request): Promise<unknown> => JSON.parse(await request.clone().text())

/** A service that numbers the tokens it gives, and accepts the last one until it is told to forget it. */
const createService = (lifetime = 3600) => {
  let issued = 0
  let valid = ''
  const answer: Answer = request => {
    if (request.url.endsWith('/api/v1/auth/token')) {
      valid = `t${++issued}`
      return json({ email: 'jane', token: valid, expires_at: Date.now() / 1000 + lifetime })
    }
    return request.headers.get('authorization') === `Bearer ${valid}` ? json([]) : json({ message: 'no' }, 401)
  }
  return { ...scriptFetch(answer), issued: () => issued, forget: () => void (valid = '') }
}
const signIn = { username: 'jane', password: 'secret' }

describe('a client that signs in', () => {
  test('does so once for calls at the same time', async () => {
    const service = createService()
    const { api } = createClient({ url, signIn, fetch: service.fetch })
    await Promise.all([api.machines.list(), api.jobs.list(), api.users.list()])
    await api.machines.list()
    expect(service.issued()).toBe(1)
    expect(await bodyOf(service.requests[0]!)).toEqual(signIn)
  })

  test('signs in again shortly before the token expires', async () => {
    const service = createService()
    const { api } = createClient({ url, signIn, fetch: service.fetch })
    await api.machines.list()
    await vi.advanceTimersByTimeAsync(3_200_000)
    await api.machines.list()
    expect(service.issued()).toBe(1)
    await vi.advanceTimersByTimeAsync(100_000)
    await api.machines.list()
    expect(service.issued()).toBe(2)
    expect(service.requests.some(({ headers }) => headers.get('authorization') === 'Bearer undefined')).toBe(false)
  })

  test('signs in again once for all calls whose token was refused, and repeats them', async () => {
    const service = createService()
    const { api } = createClient({ url, signIn, fetch: service.fetch })
    await api.machines.list()
    service.forget()
    await Promise.all([api.machines.list(), api.jobs.list(), api.users.list()])
    expect(service.issued()).toBe(2)
  })

  test('does not sign in for each call if its clock is wrong', async () => {
    const service = createService(-7200)
    const { api } = createClient({ url, signIn, fetch: service.fetch })
    await api.machines.list()
    await api.machines.list()
    expect(service.issued()).toBe(1)
  })

  test('fails with the refusal of the sign-in, and tries it again at the next call', async () => {
    const { fetch, requests } = scriptFetch(() => json({ message: 'wrong password' }, 401))
    const { api } = createClient({ url, signIn, fetch })
    for (const attempt of [1, 2]) {
      await expect(api.machines.list()).rejects.toMatchObject({ status: 401, message: 'wrong password' })
      expect(requests).toHaveLength(attempt)
    }
  })
})

describe('a client with a token', () => {
  test('sends it, and fails when it is refused', async () => {
    const { fetch, requests } = scriptFetch(() => json({ message: 'expired' }, 401))
    await expect(createClient({ url, token: 'abc', fetch }).api.machines.list()).rejects.toMatchObject({ status: 401 })
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer abc'])
  })

  test('asks its provider for another one once', async () => {
    const { fetch, requests } = scriptFetch(() => json({ message: 'no' }, 401))
    const provider = async (refused?: string) => (refused === undefined ? 'old' : `after ${refused}`)
    const { api } = createClient({ url, token: provider, fetch })
    await expect(api.machines.list()).rejects.toMatchObject({ status: 401 })
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer after old'])
  })

  test('leaves the Authorization that a request has', async () => {
    const { fetch, requests } = scriptFetch(() => json({}))
    const { send } = createClient({ url, token: 'mine', fetch })
    await send({ path: '/api/v1/machines', headers: { Authorization: 'Bearer theirs' } })
    expect(requests[0]!.headers.get('authorization')).toBe('Bearer theirs')
  })
})

test('a client with an API key sends it with each call', async () => {
  const { fetch, requests } = scriptFetch(() => json([]))
  await createClient({ url, apiKey: 'a2V5', fetch }).api.machines.list()
  expect(requests[0]!.headers.get('x-api-key')).toBe('a2V5')
  expect(requests[0]!.headers.has('authorization')).toBe(false)
})

test.for([
  ['a token', { token: 'abc' }, 'authorization', 'Bearer abc'],
  ['an API key', { apiKey: 'a2V5' }, 'x-api-key', 'a2V5'],
] as const)('a WebSocket has a ticket in the query, which %s is shown for', async ([, credential, header, value]) => {
  const opened: string[] = []
  vi.stubGlobal(
    'WebSocket',
    vi.fn<(address: string) => void>(function open(address) {
      opened.push(address)
    }),
  )
  const { fetch, requests } = scriptFetch(() => json({ ticket: 'once', expires_at: '2026-01-02T03:04:35Z' }, 201))
  const { api } = createClient({ url, ...credential, fetch })
  await api.events.subscribe({ query: { since: '5c1f0b2e-18' } })
  await api.machines.screen({ params: { id: 'my web' }, query: { view_only: 'true' } })
  expect(opened).toEqual([
    'wss://host-1.example.test:8443/api/v1/ws/subscribe?since=5c1f0b2e-18&ticket=once',
    'wss://host-1.example.test:8443/api/v1/machines/my%20web/screen?view_only=true&ticket=once',
  ])
  expect(requests.map(({ headers }) => headers.get(header))).toEqual([value, value])
  expect(await Promise.all(requests.map(bodyOf))).toEqual([
    { path: '/v1/ws/subscribe?since=5c1f0b2e-18' },
    { path: '/v1/machines/my%20web/screen?view_only=true' },
  ])
  vi.unstubAllGlobals()
})
