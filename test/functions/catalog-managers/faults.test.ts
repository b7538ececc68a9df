import { delay, http, HttpResponse, type JsonBodyType } from 'msw'
import type { SetupServer } from 'msw/node'
import { describe, expect } from 'vitest'
import type { RemoteLimits } from '#lib/remote-catalogs/remote-client.ts'
import type { Answer, Call } from '../../support/harness.ts'
import { apiKey, password, test as base } from './remote-catalog.ts'

const url = 'https://peer.example.test'
const root = { as: ['*'] }

const withLimits = (limits: RemoteLimits) =>
  base.extend<{ remoteLimits: RemoteLimits }>({
    // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
    remoteLimits: async ({}, use) => use(limits),
  })
const test = withLimits({ checkTimeout: 10_000, signInTimeout: 10_000, requestTimeout: 10_000, maxReplyBytes: 10_000 })
const testWithShortLimits = withLimits({
  checkTimeout: 1_500,
  signInTimeout: 1_500,
  requestTimeout: 500,
  maxReplyBytes: 10_000,
})

/** Creates a manager whose catalog answers correctly, and gives a function that sends requests to it. */
const createManagedCatalog = async (call: Call, network: SetupServer, more: object = { api_key: apiKey }) => {
  network.use(
    http.get(`${url}/api/v1/catalog`, () => HttpResponse.json([]), { once: true }),
    http.post(`${url}/api/v1/auth/token`, () => HttpResponse.json({ token: 'the-token', expires_at: 4e9 }), {
      once: true,
    }),
  )
  const made = await call('POST', '/api/v1/catalog-managers', { ...root, body: { name: 'QA', url, ...more } })
  expect(made.status).toBe(201)
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    call(method, `/api/v1/catalog-managers/${made.body.id}/catalog${path}`, {
      ...root,
      ...(body !== undefined && { body }),
    })
}
const message = (text: string): JsonBodyType => ({ code: 0, message: text })

describe('a refusal of a remote catalog', () => {
  test.for([
    [400, 400],
    [402, 400],
    [403, 403],
    [404, 404],
    [405, 405],
    [409, 409],
    [410, 404],
    [412, 412],
    [413, 413],
    [418, 400],
    [422, 400],
    [429, 429],
    [401, 502],
    [407, 502],
    [500, 502],
    [502, 502],
    [503, 502],
    [599, 502],
  ] as const)('%i becomes %i for the caller', async ([theirs, ours], { call, network }) => {
    const catalog = await createManagedCatalog(call, network)
    network.use(
      http.get(`${url}/api/v1/catalog/x`, () =>
        HttpResponse.json(message(`No: ${apiKey}`), { status: theirs, headers: { 'retry-after': '7', allow: 'PUT' } }),
      ),
    )
    const answer = await catalog('GET', '/x')
    expect(answer).toMatchObject({ status: ours, body: { code: ours } })
    expect(JSON.stringify(answer.body)).not.toContain(apiKey)
    if (ours !== 502) {
      expect(answer.body).toEqual({ code: ours, message: 'No: ********' })
      expect(answer.headers.get('retry-after')).toBe('7')
    } else if (theirs >= 500) expect(answer.body.message).toContain('No: ********')
  })

  test('gets a message when it has none', async ({ call, network }) => {
    const catalog = await createManagedCatalog(call, network)
    network.use(http.get(`${url}/api/v1/catalog/x`, () => new HttpResponse('<html>', { status: 404 })))
    expect((await catalog('GET', '/x')).body).toEqual({ code: 404, message: 'The catalog of QA answered 404.' })
  })
})

describe('a fault of a remote catalog', () => {
  const json = { 'content-type': 'application/json' }
  test.for<[string, () => Response | Promise<Response>]>([
    ['no JSON', () => new HttpResponse('<html></html>', { headers: json })],
    ['nothing', () => new HttpResponse(null, { status: 200 })],
    ['half of it', () => new HttpResponse('[{"name":"a"', { headers: json })],
    ['not UTF-8', () => new HttpResponse(Buffer.from('[{"name":"\xff"}]', 'latin1'), { headers: json })],
    ['a text', () => HttpResponse.json('manifests')],
    ['null', () => HttpResponse.json(null)],
    ['something else', () => HttpResponse.json({ ok: true })],
    ['a list of something else', () => HttpResponse.json([{ id: 'x' }])],
    [
      'one bad manifest among good ones',
      () => HttpResponse.json([{ name: 'a' }, { name: 'b', required_claims: 'QA' }]),
    ],
    ['claims that are no names', () => HttpResponse.json([{ name: 'a', required_claims: [{}] }])],
    ['roles that are no list', () => HttpResponse.json([{ name: 'a', required_roles: { 0: 'X' } }])],
    ['lists without end', () => new HttpResponse('['.repeat(5_000) + ']'.repeat(5_000), { headers: json })],
    [
      'a manifest with depth',
      () => new HttpResponse(`[{"name":"a","x":${'['.repeat(100)}${']'.repeat(100)}}]`, { headers: json }),
    ],
    ['too much', () => HttpResponse.json([{ name: 'x'.repeat(10_000) }])],
    ['a redirect', () => HttpResponse.redirect('https://elsewhere.example.test/api/v1/catalog', 302)],
    ['a redirect that repeats the request', () => HttpResponse.redirect('https://elsewhere.example.test/', 308)],
    ['no connection', () => HttpResponse.error()],
  ])('%s: 502', async ([, reply], { call, network }) => {
    const catalog = await createManagedCatalog(call, network)
    let asked = 0
    network.use(
      http.all('https://elsewhere.example.test/*', () => {
        asked += 1
        return HttpResponse.json([])
      }),
      http.get(`${url}/api/v1/catalog/x`, reply),
      http.get(`${url}/api/v1/catalog`, reply),
    )
    for (const answer of [
      await catalog('GET', '/x'),
      await call('POST', '/api/v1/catalog-managers', { ...root, body: { name: 'QA', url, api_key: apiKey } }),
    ])
      expect(answer).toMatchObject({ status: 502, body: { code: 502, message: expect.stringMatching(/\S/) } })
    expect(asked).toBe(0)
  })

  testWithShortLimits.for([
    ['an answer that does not come', () => delay('infinite').then(() => HttpResponse.json([]))],
    [
      'an answer that does not end',
      () => new HttpResponse(new ReadableStream({ start: stream => stream.enqueue(Buffer.from('[')) })),
    ],
  ] as const)('%s: 504', async ([, reply], { call, network }) => {
    const catalog = await createManagedCatalog(call, network)
    network.use(http.get(`${url}/api/v1/catalog/x`, reply), http.get(`${url}/api/v1/catalog`, reply))
    for (const answer of [
      await catalog('GET', '/x'),
      await call('POST', '/api/v1/catalog-managers', { ...root, body: { name: 'QA', url, api_key: apiKey } }),
    ])
      expect(answer).toMatchObject({ status: 504, body: { message: expect.stringContaining('in time') } })
  })

  test('an unreachable host: 502, and nothing is stored', async ({ call }) => {
    const body = { name: 'QA', url: 'https://nowhere.example.test', api_key: apiKey }
    expect(await call('POST', '/api/v1/catalog-managers', { ...root, body })).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining('cannot be found') },
    })
    expect((await call('GET', '/api/v1/catalog-managers', root)).body).toEqual([])
  })

  test('a caller can have at most eight requests under way', async ({ call, network }) => {
    const catalog = await createManagedCatalog(call, network)
    const { promise: go, resolve } = Promise.withResolvers<void>()
    let waiting = 0
    const { promise: full, resolve: isFull } = Promise.withResolvers<void>()
    network.use(
      http.get(`${url}/api/v1/catalog/x`, async () => {
        waiting += 1
        if (waiting === 8) isFull()
        await go
        return HttpResponse.json([{ name: 'x' }])
      }),
    )
    const first = Array.from({ length: 8 }, () => catalog('GET', '/x'))
    await full
    expect((await catalog('GET', '/x')).status).toBe(503)
    resolve()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect((await catalog('GET', '/x')).status).toBe(200)
  })
})

describe('a failed sign-in', () => {
  const credentials = { username: 'me', password }
  test.for<[string, () => Response]>([
    ['no token', () => HttpResponse.json({ ok: true })],
    ['a token that is no text', () => HttpResponse.json({ token: 7 })],
    ['a token that breaks headers', () => HttpResponse.json({ token: 'a\r\nX-Evil: b' })],
    ['a redirect', () => HttpResponse.redirect('https://elsewhere.example.test/', 307)],
    ['a server that fails', () => HttpResponse.json({}, { status: 500 })],
  ])('%s', async ([, reply], { call, network }) => {
    network.use(
      http.post(`${url}/api/v1/auth/token`, reply),
      http.get(`${url}/api/v1/catalog`, () => HttpResponse.json([])),
    )
    const answer = await call('POST', '/api/v1/catalog-managers', {
      ...root,
      body: { name: 'QA', url, ...credentials },
    })
    expect(answer).toMatchObject({ status: 502, body: { message: expect.stringMatching(/\S/) } })
    expect(JSON.stringify(answer.body)).not.toContain(password)
  })

  testWithShortLimits('no answer', async ({ call, network }) => {
    network.use(http.post(`${url}/api/v1/auth/token`, () => delay('infinite').then(() => HttpResponse.json({}))))
    const body = { name: 'QA', url, ...credentials }
    expect((await call('POST', '/api/v1/catalog-managers', { ...root, body })).status).toBe(504)
  })

  test('is not retried at once when it was refused, because wrong passwords lock accounts', async ({
    call,
    network,
  }) => {
    const catalog = await createManagedCatalog(call, network, credentials)
    let signIns = 0
    network.use(
      http.post(`${url}/api/v1/auth/token`, () => {
        signIns += 1
        return HttpResponse.json(message('no'), { status: 401 })
      }),
      http.get(`${url}/api/v1/catalog`, () => HttpResponse.json([])),
    )
    const asked = [await catalog('GET', ''), await catalog('GET', ''), await catalog('GET', '')]
    expect(asked.map(({ status }) => status)).toEqual([502, 502, 502])
    expect(signIns).toBe(1)
  })

  test('a new token that is refused too: 502, after one retry', async ({ call, network }) => {
    const catalog = await createManagedCatalog(call, network, credentials)
    let asked = 0
    network.use(
      http.post(`${url}/api/v1/auth/token`, () => HttpResponse.json({ token: `the-token-${asked}` })),
      http.get(`${url}/api/v1/catalog`, () => {
        asked += 1
        return HttpResponse.json(message('no'), { status: 401 })
      }),
    )
    expect(await catalog('GET', '')).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining('credentials') },
    })
    expect(asked).toBe(2)
  })
})
