import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { drain } from '#lib/objects/http/response.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import { createBody, trackBody } from '#lib/objects/http/request-body.ts'
import { outlastIdle } from '../../../support/silence.ts'

const idleTimeout = 400
const fetcher = createFetcher({ idleTimeout })

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** Starts a server with a listener and gives its URL. */
const serve = async (listener: RequestListener): Promise<URL> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a`)
}

test('the idle timeout for the reply grows with the size of the body', async () => {
  // The body claims to have three GiB; the server does not check that.
  const open = async function* () {
    yield Buffer.from('pack')
  }
  const slow = await serve((_, response) => void outlastIdle(idleTimeout, 2).then(() => response.end('done')))
  const reply = await fetcher({ method: 'PUT', url: slow, body: { size: 3 * 1024 ** 3, open } })
  expect(reply.status).toBe(200)
  drain(reply)
  const little = fetcher({ method: 'PUT', url: slow, body: { size: 4, open } })
  await expect(little).rejects.toThrow('nothing came or went for 0.4 s')
})

test('the error of a broken connection is not an error of the source', async () => {
  const source = trackBody(createBody(Buffer.from('pack')))
  const bytes = source.body.open()[Symbol.asyncIterator]()
  await bytes.next()
  await expect(bytes.throw!(new Error('broken'))).rejects.toThrow('broken')
  expect(source.sourceError()).toBeUndefined()
})

test('requests reuse the connections of drained replies', async () => {
  const ports = new Set<number | undefined>()
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort)
    response.writeHead(404, { 'Content-Length': request.method === 'GET' ? '9' : '1000000' })
    response.end('not there')
  })
  for (let count = 0; count < 10; count += 1)
    for (const method of ['HEAD', 'GET']) drain(await fetcher({ method, url }))
  expect(ports.size).toBeLessThan(4)
})
