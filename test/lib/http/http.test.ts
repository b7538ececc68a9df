import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createApp } from '#lib/http/app.ts'
import { endpoint, type Route } from '#lib/http/endpoint.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { hostRoutes as routes } from '#lib/compose/hosts/host-routes.ts'
import { type Call, callOf, test as served } from '../../support/harness.ts'

const echo: Route = {
  id: 'test/echo',
  endpoint: endpoint({
    method: 'POST',
    path: '/v1/test/{name}',
    summary: 'Say it again',
    access: 'public',
    effect: 'change',
    uses: [],
    params: z.object({ name: z.string() }),
    query: z.object({ loud: z.stringbool().default(false) }),
    body: z.object({ text: z.string().optional(), deep: z.unknown().optional() }),
    bodyLimit: 1000,
    reply: z.object({ said: z.string() }),
  }).handle(({ params, body, query }) => ({
    said: `${params.name}:${body.text ?? 'nothing'}${query.loud ? '!' : ''}`,
  })),
}
const broken: Route = {
  id: 'test/broken',
  endpoint: endpoint({
    method: 'GET',
    path: '/v1/broken',
    summary: 'Break a promise',
    access: 'public',
    effect: 'read',
    uses: [],
    reply: z.object({ said: z.string() }),
  }).handle(() => ({ said: 7 as unknown as string })),
}

const callTo = (list: readonly Route[]): Call =>
  callOf(
    createApp({
      routes: list,
      services: {},
      authenticate: async () => undefined,
      onOutcome: () => {},
      checkReplies: true,
    }),
  )
const call = callTo([echo, broken])

describe('a body', () => {
  test.for([
    ['{"text":"hi"}', 'a:hi'],
    ['{"text":null,"other":1}', 'a:nothing'],
    ['{"text":"é😀"}', 'a:é😀'],
  ] as const)('%s is read as JSON whatever its Content-Type is', async ([body, said]) => {
    expect(await call('POST', '/api/v1/test/a', { body })).toMatchObject({ status: 200, body: { said } })
  })

  test.for([
    ['says its length', { 'content-length': '100000' }],
    ['does not say its length', {}],
  ] as const)('that is too large and %s closes the connection: the rest of it is not read', async ([, headers]) => {
    const body = JSON.stringify({ text: 'x'.repeat(1000) })
    const { status, headers: sent } = await call('POST', '/api/v1/test/a', { body, headers })
    expect(status).toBe(413)
    expect(sent.get('connection')).toBe('close')
  })

  test('may be a form; JSON with the Content-Type of a form is read as JSON', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await call('POST', '/api/v1/test/a', { body: '{"text":"b=c"}', headers })).toMatchObject({
      body: { said: 'a:b=c' },
    })
    expect(await call('POST', '/api/v1/test/a', { body: 'text=hi+you', headers })).toMatchObject({
      body: { said: 'a:hi you' },
    })
  })

  test.for([
    ['', 400, 'empty'],
    ['{', 400, 'not JSON'],
    ['[]', 400, 'object'],
    ['{"text":7}', 400, 'text: '],
    [`{"deep":${'['.repeat(450)}`, 400, 'not JSON'],
    [JSON.stringify({ text: 'x'.repeat(1000) }), 413, '1000 bytes'],
  ] as const)('%s is refused', async ([body, status, told]) => {
    expect(await call('POST', '/api/v1/test/a', { body })).toMatchObject({
      status,
      body: { code: status, message: expect.stringContaining(told) },
    })
  })
})

test('a body that ends early is refused as invalid', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"te'))
      controller.error(new Error('aborted'))
    },
  })
  const app = createApp({
    routes: [echo],
    services: {},
    authenticate: async () => undefined,
    onOutcome: () => {},
    checkReplies: true,
  })
  const request = new Request('https://host-1.example.test/api/v1/test/a', {
    method: 'POST',
    body,
    duplex: 'half',
  } as RequestInit)
  expect((await app.fetch(request)).status).toBe(400)
})

describe('a path', () => {
  test.for(['//api//v1/test/a', '/api/v1/test/a/', '/api/v1//test/a//'])('%s reaches the endpoint', async path => {
    expect(await call('POST', path, { body: {} })).toMatchObject({ status: 200 })
  })

  test('may have percent escapes', async () => {
    expect(await call('POST', '/api/v1/test/a%2Fb%20%C3%A9?loud=true', { body: {} })).toMatchObject({
      body: { said: 'a/b é:nothing!' },
    })
  })

  test('without a route is answered with 404, and a wrong method with 405', async () => {
    expect(await call('GET', '/api/v1/nope')).toMatchObject({ status: 404, body: { code: 404 } })
    expect(await call('GET', '/')).toMatchObject({ status: 404, body: { code: 404 } })
    const answer = await call('DELETE', '/api/v1/test/a')
    expect(answer).toMatchObject({ status: 405, body: { code: 405 } })
    expect(answer.headers.get('allow')).toBe('POST')
  })

  test('with an invalid query is answered with 400, and the message names the parameter', async () => {
    expect(await call('POST', '/api/v1/test/a?loud=maybe', { body: {} })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('loud') },
    })
  })
})

describe('a reply', () => {
  test('is exactly application/json and has a request id', async () => {
    const { headers } = await call('POST', '/api/v1/test/a', { body: {} })
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect((await call('GET', '/api/v1/nope')).headers.get('content-type')).toBe('application/json')
  })

  test('that does not match its schema is an internal error', async () => {
    expect(await call('GET', '/api/v1/broken')).toMatchObject({ status: 500 })
  })
})

describe('every endpoint of the table', () => {
  const guarded = routes.filter(({ endpoint: { access } }) => access !== 'public')
  served.for(guarded)('$id refuses a stranger', async (route, { call }) => {
    const { method, path } = route.endpoint
    const answer = await call(method, toServedPath(path.replace(/\{\w+\}/g, 'x')), { as: null })
    expect(answer).toMatchObject({ status: 401, body: { code: 401, error: 'unauthorized_client' } })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })
})

describe('exposure', () => {
  const ids = (include: string[], exclude: string[]): string[] =>
    selectExposedRoutes<Route>(routes, { include, exclude }).map(route => route.id)

  test('selects routes by id and by method and path, and exclusion wins', () => {
    expect(ids([], [])).toHaveLength(routes.length)
    expect(ids(['auth/*token*', 'auth/sign-in'], [])).toEqual([
      'auth/sign-in',
      'auth/validate-own-token',
      'auth/validate-token',
    ])
    expect(ids(['GET /v1/auth/token/**'], [])).toEqual(['auth/validate-own-token'])
    expect(ids(['machines/*', 'auth/sign-in'], ['PUT /v1/machines/*/*'])).toEqual([
      'auth/sign-in',
      'machines/list',
      'machines/create',
      'machines/delete',
      'machines/show',
      'machines/delete-cloud-init',
      'machines/show-cloud-init',
      'machines/console',
      'machines/read-file',
      'machines/fork',
      'machines/list-forwards',
      'machines/add-forward',
      'machines/remove-forward',
      'machines/screen',
      'machines/screenshot',
      'machines/delete-snapshots',
      'machines/list-snapshots',
      'machines/create-snapshot',
      'machines/delete-snapshot',
      'machines/show-snapshot',
      'machines/update-snapshot',
      'machines/revert-to-snapshot',
      'machines/status',
      'machines/tunnel',
      'machines/wait',
    ])
  })

  test('refuses a pattern that matches nothing', () => {
    expect(() => ids(['machine/*'], [])).toThrow('machine/*')
    expect(() => ids([], ['POST /v1/machines/{id}'])).toThrow('POST')
  })

  test('names what a pattern probably means', () => {
    expect(() => ids(['machine/*'], [])).toThrow('routes_include has machine/* (did you mean machines/*?)')
    expect(() => ids([], ['ssh/exeute'])).toThrow('routes_exclude has ssh/exeute (did you mean ssh/execute?)')
    expect(() => ids([], ['GET /api/v1/machine'])).toThrow('did you mean GET /api/v1/machines?')
    expect(() => ids([], ['nothing-of-that-kind'])).toThrow('has nothing-of-that-kind, which matches no endpoint;')
  })

  test('takes paths as clients know them, and effects', () => {
    expect(ids(['auth/sign-in', 'GET /api/v1/machines'], [])).toEqual(['auth/sign-in', 'machines/list'])
    const reading = ids(['effect:read', 'auth/sign-in'], [])
    expect(reading).toContain('machines/status')
    // A GET that changes something.
    expect(reading).not.toContain('machines/start')
  })

  test('refuses to leave out what others need, and names both', () => {
    expect(() => ids(['machines/list', 'machines/show', 'users/*', 'health/*'], [])).toThrow(
      /leave out auth\/sign-in, which users\/list, users\/create, users\/delete, \d+ more need: /,
    )
    expect(() => ids([], ['jobs/*'])).toThrow('leave out jobs/show, which ')
    expect(() => ids(['auth/*', 'events/unsubscribe'], [])).toThrow(
      'leave out events/subscribe, which events/unsubscribe needs',
    )
    expect(ids(['health/probe', 'openapi/*'], [])).toEqual(['health/probe', 'openapi/show'])
  })

  test('of a build accepts the patterns that it was built for, and tells of others that the build is a selection', () => {
    const builtFor = { include: [], exclude: ['ssh/*'] }
    const built = selectExposedRoutes<Route>(routes, builtFor)
    expect(selectExposedRoutes(built, { include: [], exclude: ['ssh/*', 'users/*'] }, builtFor)).toHaveLength(
      built.filter(({ id }) => !id.startsWith('users/')).length,
    )
    expect(() => selectExposedRoutes(built, { include: ['ssh/execute'], exclude: [] }, builtFor)).toThrow(
      'ssh/execute, which matches no endpoint of this build;',
    )
  })

  test('a route that is not exposed is answered with 404', async () => {
    const call = callTo(selectExposedRoutes([echo, broken], { include: [], exclude: ['test/broken'] }))
    expect(await call('GET', '/api/v1/broken')).toMatchObject({ status: 404 })
  })
})

describe('GET /api/openapi.json', () => {
  served('describes every served route', async ({ call }) => {
    const { body } = await call('GET', '/api/openapi.json', { as: null })
    expect(body.openapi).toBe('3.1.0')
    const described = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    )
    const table = routes.flatMap(({ endpoint: { method, path, also = [] } }) =>
      [`${method} ${path}`, ...also].map(pair => pair.replace(/ (.*)/, (_, at: string) => ` ${toServedPath(at)}`)),
    )
    expect(described.sort()).toEqual(table.sort())
    const ids = Object.values<Record<string, { operationId: string }>>(body.paths).flatMap(methods =>
      Object.values(methods).map(operation => operation.operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    expect(JSON.stringify(body)).not.toContain('$defs')
  })
})

describe('a path that another with a parameter matches too', () => {
  served.for([
    ['GET', '/api/v1/jobs/cleanup', 'DELETE'],
    ['DELETE', '/api/v1/auth/claims/grouped', 'GET, HEAD'],
    ['GET', '/api/v1/catalog/push/async', 'POST'],
    ['GET', '/api/v1/catalog/cache/one', 'DELETE'],
    ['POST', '/api/v1/jobs/cleanup', 'DELETE'],
  ] as const)('%s %s is refused with its own methods', async ([method, path, allow], { call }) => {
    const { status, headers } = await call(method, path)
    expect([status, headers.get('allow')]).toEqual([405, allow])
  })
})

describe('health and license', () => {
  served('the probe is open, the rest is not', async ({ call }) => {
    expect(await call('GET', '/api/health/probe', { as: null })).toMatchObject({ status: 200, body: { status: 'OK' } })
    expect(await call('GET', '/api/v1/health/system')).toMatchObject({ status: 200, body: { healthy: true } })
  })

  served.for(['hypervisor_desktop', 'parallels_desktop'])(
    'the license has all twelve fields at %s',
    async (product, { call }) => {
      const { status, body } = await call('GET', `/api/v1/${product}/key`)
      expect(status).toBe(200)
      expect(Object.keys(body).sort()).toEqual([
        'advanced_restrictions',
        'cpu_total',
        'deferred_activation',
        'edition',
        'expiration',
        'grace_period_ends_at',
        'is_volume',
        'main_period_ends_at',
        'max_memory',
        'serial',
        'status',
        'uuid',
      ])
    },
  )
})

served('the tests of endpoints reach no network', async ({ network }) => {
  expect(network).toBeDefined()
  await expect(fetch('https://far.example.test/')).rejects.toThrow('fetch')
})
