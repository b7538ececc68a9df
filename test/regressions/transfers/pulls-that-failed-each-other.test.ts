import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http, passthrough } from 'msw'
import { expect } from 'vitest'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { test as base } from '../../support/harness.ts'

const test = base.extend<{ outgoing: SendOutgoing }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  outgoing: async ({}, use) => use(createOutgoing({ allowed: ['127.0.0.1'] })),
})

test('concurrent pulls from one catalog wait for each other, and none fails', async ({ call, network }) => {
  // 64 pieces, of no machine: a pull that has them all says that of the pack.
  const size = 64 * 4096
  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  const sideOf = (id: number) => ({
    files: [],
    format: 1,
    md5: '0'.repeat(32),
    name: 'demo',
    piece_size: 4096,
    pieces: Array.from({ length: 64 }, () => sha256(Buffer.alloc(4096, id))),
    sha256: sha256(Buffer.alloc(size, id)),
    signatures: [],
    size,
  })
  let [now, most] = [0, 0]
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://other')
    const part = url.searchParams.get('content')
    const [, name = '', id = ''] = /catalog\/(demo-(\d))/.exec(url.pathname) ?? []
    if (part !== 'pack') {
      response.setHeader('content-type', part ? 'application/octet-stream' : 'application/json')
      const side = sideOf(Number(id))
      const manifest = { name, id, catalog_id: name, type: 'qemu', pack_sha256: side.sha256 }
      return response.end(JSON.stringify(part ? side : [manifest]))
    }
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range!)!.map(Number)
    now += 1
    most = Math.max(most, now)
    // A pull that fails drops the requests that it has under way.
    response.once('close', () => (now -= 1))
    setTimeout(() => {
      response.writeHead(206, {
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${first}-${last}/${size}`,
      })
      response.end(Buffer.alloc(last! - first! + 1, Number(id)))
    }, 5)
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  network.use(http.all('http://127.0.0.1:*', () => passthrough()))
  const connection = `host=key@127.0.0.1:${(server.address() as AddressInfo).port}`
  const pull = (id: number) =>
    call('PUT', '/api/v1/catalog/pull', {
      body: { catalog_id: `demo-${id}`, version: '1', machine_name: `copy-${id}`, connection },
    })
  const pulled = await Promise.all([1, 2, 3, 4].map(id => pull(id)))
  server.closeAllConnections()
  server.close()
  for (const { status, body } of pulled)
    expect({ status, ...body }).toMatchObject({ status: 502, message: expect.stringContaining('neither gzip') })
  expect(most).toBeLessThanOrEqual(8)
})

test('a request that waits for a slot ends when it is aborted, and others get the slot', async () => {
  const atOnce = createKeyedLimiter(1)
  const first = Promise.withResolvers<string>()
  const running = atOnce.run('a', () => first.promise)
  const gone = new AbortController()
  const second = atOnce.run('a', async () => 'second', gone.signal)
  const third = atOnce.run('a', async () => 'third')
  expect(await atOnce.run('b', async () => 'other')).toBe('other')
  gone.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  expect(atOnce.isFull('a')).toBe(true)
  first.resolve('first')
  expect(await Promise.all([running, third])).toEqual(['first', 'third'])
  expect(atOnce.isFull('a')).toBe(false)
})
