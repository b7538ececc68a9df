import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exchangeBytes } from '../support/raw-exchange.ts'
import { newState, startService } from '../support/service.ts'

test('the service answers malformed requests with the documented error and continues', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env: { VMHOST_LISTEN: 'http://127.0.0.1:0' } })
  const port = Number(new URL(service.url).port)
  const post = 'POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\n'
  const cases: [string, number][] = [
    ['\u0016\u0003\u0001 not HTTP\r\n\r\n', 400],
    ['GET /api/health/probe HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['GET /api/health/probe HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    ['GET /api/health/probe HTTP/1.1\r\nHost: one\r\nhost: two\r\n\r\n', 400],
    ['GET /api/health/probe HTTP/1.1\r\nHost: one\r\nHost: one\r\n\r\n', 400],
    [
      'GET /api/v1/ws/subscribe HTTP/1.1\r\nHost: one\r\nHost: two\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      400,
    ],
    ['GET /api\\health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['OPTIONS /api/v1/machines HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
    [`${post}Expect: more\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`, 417],
    [`${post}Content-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`, 413],
    [`${post}Transfer-Encoding: chunked\r\n\r\n${(200_000).toString(16)}\r\n${'x'.repeat(200_000)}\r\n0\r\n\r\n`, 413],
    [`${post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`, 400],
  ]
  const ofOwner = join(state.path, 'vmhost.sock')
  const twice = await exchangeBytes(ofOwner, 'GET /api/health/probe HTTP/1.1\r\nHost: one\r\nHost: two\r\n\r\n')
  expect(twice).toMatch(/^HTTP\/1\.1 400 [^]*more than one Host/)
  for (const [bytes, status] of cases) {
    const reply = await exchangeBytes(port, bytes)
    const [head = '', body = ''] = reply.split('\r\n\r\n')
    expect(head.split('\r\n')[0], bytes.slice(0, 60)).toContain(`HTTP/1.1 ${status} `)
    expect(JSON.parse(body), bytes.slice(0, 60)).toMatchObject({ code: status, message: expect.any(String) })
  }
  expect((await service.call('GET', '/api/health/probe')).status).toBe(200)
  expect(service.log()).toBe('')
  await service.stop()
})
