import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import type { App } from '#lib/http/app.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { openListener } from '#lib/listener/listener.ts'
import { test as base } from '../../support/harness.ts'

/** Uses a real network connection, because requests must arrive together in one chunk. */
// oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
const test = base.extend({ network: [async ({}, use) => use(undefined as never), { auto: true }] })

const open = (app: App, direct: App['direct']) =>
  openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    fetch: app.fetch,
    upgrade: app.upgrade,
    isWebSocket: app.isWebSocket,
    direct,
  })

/** Sends bytes and gives the replies, with sorted header lines and without values that differ each time. */
const exchange = async (url: string, bytes: string): Promise<readonly string[]> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(bytes)
  const reply = await text(socket)
  return reply
    .replace(/\r\n(Date|X-Request-Id): [^\r]*/gi, '\r\n$1: -')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'id')
    .split(/(?=HTTP\/1\.1 )/)
    .map(one => {
      const [head = '', ...rest] = one.split('\r\n\r\n')
      const [status, ...lines] = head.split('\r\n')
      const sorted = lines.map(line => line.replace(/^[^:]*/, name => name.toLowerCase())).sort()
      return [status, ...sorted, '', ...rest].join('\n')
    })
}

const request = (line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: vmhost.example.test:8080', 'Connection: close', ...headers, '', ''].join('\r\n')
const post = (path: string, body: string, ...headers: readonly string[]): string =>
  request(`POST ${path}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers) + body

const root = 'Authorization: Bearer *'
const list = '/api/v1/machines'
const validate = '/api/v1/auth/token/validate'

describe('a request that is served without a Request object gets the same reply as one with it', () => {
  test.for([
    ['a probe', request('GET /api/health/probe')],
    ['a list', request(`GET ${list}`, root)],
    ['a list that is known', request(`GET ${list}`, root, 'If-None-Match: *')],
    ['a list with a filter', request(`GET ${list}`, root, 'X-Filter: Name=no')],
    ['a list with a filter that is none', request(`GET ${list}`, root, 'X-Filter: Name')],
    ['a list whose query is left out', request('GET /api/v1/catalog', root)],
    ['no credential', request(`GET ${list}`)],
    ['another scheme', request(`GET ${list}`, 'Authorization: Basic eDp5')],
    ['two credentials', request(`GET ${list}`, root, root)],
    ['a bearer in odd case, with space around', request(`GET ${list}`, 'authorization:  bEARER   *\t ')],
    ['a claim that is missing', request(`GET ${list}`, 'Authorization: Bearer READ_ONLY')],
    ['a record', request('GET /api/v1/jobs/3f0f9e0c-5f0b-4a64-9a0c-1d8d5f0a1b2c', root)],
    ['a parameter that is none', request('GET /api/v1/jobs/x', root)],
    ['nothing there', request('GET /api/v1/nothing', root)],
    ['the method of a less literal path', request('GET /api/v1/jobs/cleanup', root)],
    ['a query', request('GET /api/v1/catalog?limit=1', root)],
    ['a query that is not valid', request('GET /api/v1/catalog?limit=x', root)],
    ['HEAD', request(`HEAD ${list}`, root)],
    ['HEAD of a change', request('HEAD /api/v1/machines/x/start', root)],
    ['OPTIONS', request(`OPTIONS ${list}`, root)],
    ['a GET that changes', request('GET /api/v1/machines/x/start', root)],
    ['escapes', request('GET /api/v1/machines/a%20b/status', root)],
    ['doubled slashes', request('GET //api//v1/machines', root)],
    ['a slash at the end', request(`GET ${list}/`, root)],
    ['dots', request('GET /api/v1/x/../machines', root)],
    ['one dot', request('GET /api/v1/./machines', root)],
    ['a name with dots', request('GET /api/v1/machines/a.b..c/status', root)],
    ['the whole address', request(`GET http://vmhost.example.test${list}`, root)],
    ['a fragment', request(`GET ${list}#x`, root)],
    ['a backslash', request('GET /api\\v1/machines', root)],
    ['a well-known path', request('GET /.well-known/jwks.json')],
    ['text', request('GET /metrics', root)],
    ['no host', `GET ${list} HTTP/1.1\r\nConnection: close\r\n${root}\r\n\r\n`],
    ['two hosts', request(`GET ${list}`, root, 'Host: other.example.test')],
    ['a host that is none', `GET ${list} HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n${root}\r\n\r\n`],
    ['a host in capitals', `GET ${list} HTTP/1.1\r\nHost: VMHOST\r\nConnection: close\r\n${root}\r\n\r\n`],
    ['HTTP/1.0', `GET ${list} HTTP/1.0\r\nHost: x\r\n${root}\r\n\r\n`],
    ['a GET with a body', `${request(`GET ${list}`, root, 'Content-Length: 2')}{}`],
    ['a body', post(validate, '{"token":"x"}')],
    ['a form', post(validate, 'token=x', 'Content-Type: application/x-www-form-urlencoded')],
    ['a body that is no JSON', post(validate, '{')],
    ['a body that is no object', post(validate, '[]')],
    ['a body of bytes that are no text', post(validate, '{"token":"\u0080"}').replace('\u0080', '\xff')],
    ['an empty body', post(validate, '')],
    ['no length', request(`POST ${validate}`)],
    ['chunks', `${request(`POST ${validate}`, 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`],
    ['too much', post(validate, `{"token":"${'x'.repeat(70_000)}"}`)],
    ['far too much', post(validate, `{"token":"${'x'.repeat(200_000)}"}`)],
    ['an expectation', post(validate, '{"token":"x"}', 'Expect: 100-continue')],
    [
      'one after the other on a connection',
      [request(`GET ${list}`, root), request('GET /api/v1/catalog?limit=1', root), post(validate, '{}')]
        .map((one, at) => (at < 2 ? one.replace('Connection: close\r\n', '') : one))
        .join(''),
    ],
  ] as const)('%s', async ([, bytes], { app }) => {
    const [direct, plain] = await Promise.all([open(app, app.direct), open(app, () => undefined)])
    try {
      const replies = await exchange(direct.url, bytes)
      expect(replies[0]).toMatch(/^HTTP\/1\.1 \d{3} /)
      expect(replies).toEqual(await exchange(plain.url, bytes))
    } finally {
      await Promise.all([direct.close(), plain.close()])
    }
  })

  test('and is counted and audited in the same way', async ({ app, observed }) => {
    const [direct, plain] = await Promise.all([open(app, app.direct), open(app, () => undefined)])
    try {
      for (const { url } of [direct, plain]) {
        await exchange(url, request(`GET ${list}`, root))
        await exchange(url, request(`GET ${list}`))
        await exchange(url, post(validate, '{'))
      }
      const seen = observed.map(({ operation, status, error }) => [operation, status, error instanceof Error])
      expect(seen.slice(0, 3)).toEqual([
        ['machines/list', 200, false],
        ['machines/list', 401, true],
        ['auth/validate-token', 400, true],
      ])
      expect(seen.slice(3)).toEqual(seen.slice(0, 3))
    } finally {
      await Promise.all([direct.close(), plain.close()])
    }
  })
})
