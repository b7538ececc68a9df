import { describe, expect, test } from 'vitest'
import { createApp } from '#lib/http/app.ts'
import { createCors } from '#lib/http/cors.ts'
import { endpoint, type Method, type Path } from '#lib/http/endpoint.ts'
import * as z from 'zod'

let calls = 0
const route = (method: Method, path: Path, effect: 'read' | 'change', access: 'public' | 'signed-in') => ({
  id: `test/${method.toLowerCase()}`,
  endpoint: endpoint({
    method,
    path,
    summary: 'x',
    access,
    effect,
    uses: [],
    reply: z.object({ ok: z.boolean() }),
  }).handle(() => {
    calls += 1
    return { ok: true }
  }),
})
const appWith = (origins: readonly string[]) =>
  createApp({
    routes: [
      route('GET', '/v1/thing', 'read', 'public'),
      route('PUT', '/v1/thing', 'change', 'signed-in'),
      { ...route('GET', '/v1/act', 'change', 'public'), id: 'test/act' },
    ],
    services: {},
    authenticate: async () => undefined,
    onOutcome: () => {},
    cors: origins.length > 0 ? createCors(origins) : undefined,
    checkReplies: true,
  })
const ask = async (origins: readonly string[], method: string, path: string, headers: Record<string, string>) =>
  appWith(origins).fetch(new Request(`https://host.example.test/api${path}`, { method, headers }))
const ui = 'https://ui.example.test'
const preflight = {
  origin: ui,
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'authorization',
}
const allowed = (response: Response): string | null => response.headers.get('access-control-allow-origin')

describe('CORS', () => {
  test('without allowed origins no CORS header is sent, and OPTIONS is refused with 405', async () => {
    const response = await ask([], 'OPTIONS', '/v1/thing', preflight)
    expect(response.status).toBe(405)
    expect(allowed(response)).toBeNull()
    expect(allowed(await ask([], 'GET', '/v1/thing', { origin: ui }))).toBeNull()
  })

  test.for([
    [[ui], ui],
    [['https://other.example.test', ui], ui],
    [['*'], '*'],
  ] as const)(
    '%o: a preflight is answered without authentication, and reaches no handler',
    async ([origins, origin]) => {
      calls = 0
      const response = await ask(origins, 'OPTIONS', '/v1/thing', preflight)
      expect(response.status).toBe(204)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD, PUT',
        'access-control-allow-headers': expect.stringMatching(/authorization, x-api-key, x-filter, content-type/),
        'access-control-max-age': '600',
        vary: 'Origin',
      })
      expect(response.headers.has('access-control-allow-credentials')).toBe(false)
      expect(calls).toBe(0)
    },
  )

  test.for([
    'https://evil.example.test',
    'http://ui.example.test',
    'https://ui.example.test.evil',
    'null',
    'https://UI.example.test',
  ])('the origin %s is not allowed and gets no CORS header', async origin => {
    for (const response of [
      await ask([ui], 'OPTIONS', '/v1/thing', { ...preflight, origin }),
      await ask([ui], 'GET', '/v1/thing', { origin }),
    ]) {
      expect(allowed(response)).toBeNull()
      expect(response.headers.get('vary')).toContain('Origin')
    }
  })

  test('an allowed page can read replies and refusals', async () => {
    for (const [method, path, status] of [
      ['GET', '/v1/thing', 200],
      ['PUT', '/v1/thing', 401],
      ['GET', '/v1/nothing', 404],
    ] as const) {
      const response = await ask([ui], method, path, { origin: ui })
      expect([response.status, allowed(response)]).toEqual([status, ui])
      expect(response.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
    }
  })

  test('a GET that changes something is served to an allowed page and to no other', async () => {
    expect((await ask([ui], 'GET', '/v1/act', { origin: ui })).status).toBe(200)
    expect((await ask([ui], 'GET', '/v1/act', { origin: 'https://evil.example.test' })).status).toBe(403)
    expect((await ask([], 'GET', '/v1/act', { origin: ui })).status).toBe(403)
  })
})

test('every reply has the security headers', async () => {
  for (const path of ['/v1/thing', '/v1/nothing', '/v1/act'])
    expect(Object.fromEntries((await ask([], 'GET', path, {})).headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
})
