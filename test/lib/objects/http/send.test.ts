import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createVerifiedStream } from '#lib/objects/http/response-body.ts'
import { retryRequests } from '#lib/objects/http/origin-bound-fetch.ts'
import { drain } from '#lib/objects/http/response.ts'
import { TransientError } from '#lib/async/retry.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import { createBody, trackBody } from '#lib/objects/http/request-body.ts'
import { readBytes } from '../../../contracts/provider.ts'
import { outlastIdle } from '../../../support/silence.ts'
import { pause } from '../../../support/waiting.ts'

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

/** Reads the whole request and replies. */
const accepts: RequestListener = (request, response) => void request.resume().once('end', () => response.end('done'))

test('a slow source does not count as an idle server', async () => {
  const open = async function* () {
    yield Buffer.from('pa')
    await outlastIdle(idleTimeout, 2)
    yield Buffer.from('ck')
  }
  const reply = await fetcher({ method: 'PUT', url: await serve(accepts), body: { size: 4, open } })
  expect(reply.status).toBe(200)
  drain(reply)
})

test('a server that reads nothing is idle', async () => {
  const url = await serve(() => undefined)
  const body = createBody(Buffer.alloc(64 * 1024 * 1024))
  await expect(fetcher({ method: 'PUT', url, body })).rejects.toThrow('nothing came or went for 0.4 s')
})

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

test('a slow reader gets a body that has arrived completely', async () => {
  const url = await serve((_, response) => {
    response.write('pack')
    void pause(idleTimeout / 4).then(() => response.end())
  })
  const { body } = await fetcher({ method: 'GET', url })
  const stream = createVerifiedStream(body, { host: 'x', what: 'a', size: 4 })
  await outlastIdle(idleTimeout, 2)
  expect((await readBytes(stream)).toString()).toBe('pack')
})

test.each([
  ['an error of its own', new Error('the disk is broken')],
  ['a transient error', new TransientError('the other storage is busy', undefined)],
])('an error of the source, %s, is thrown unchanged and not retried', async (_, error) => {
  let opened = 0
  const open = async function* () {
    opened += 1
    yield Buffer.from('pa')
    throw error
  }
  const sent = retryRequests(fetcher)({ method: 'PUT', url: await serve(accepts), body: { size: 4, open } })
  expect(await sent.catch((thrown: unknown) => thrown)).toBe(error)
  expect(opened).toBe(1)
})

test('the error of a broken connection is not an error of the source', async () => {
  const source = trackBody(createBody(Buffer.from('pack')))
  const bytes = source.body.open()[Symbol.asyncIterator]()
  await bytes.next()
  await expect(bytes.throw!(new Error('broken'))).rejects.toThrow('broken')
  expect(source.sourceError()).toBeUndefined()
})

test('an upload is retried after each broken connection', async () => {
  let opened = 0
  const bytes = Buffer.alloc(20 * 1024 * 1024)
  const open = () => {
    opened += 1
    return createBody(bytes).open()
  }
  const url = await serve((request, response) => {
    if (opened < 3) request.once('data', () => request.socket.destroy())
    else accepts(request, response)
  })
  const once = fetcher({ method: 'PUT', url, body: { size: bytes.length, open } })
  await expect(once).rejects.toBeInstanceOf(TransientError)
  opened = 0
  const reply = await retryRequests(fetcher)({ method: 'PUT', url, body: { size: bytes.length, open } })
  expect([reply.status, opened]).toEqual([200, 3])
  drain(reply)
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

test('a refusal that comes before the whole body was sent is received', async () => {
  const url = await serve((_, response) => {
    response.writeHead(403, { 'Content-Length': '2' })
    response.end('no')
  })
  const reply = await fetcher({ method: 'PUT', url, body: createBody(Buffer.alloc(64 * 1024 * 1024)) })
  expect(reply.status).toBe(403)
  drain(reply)
})
