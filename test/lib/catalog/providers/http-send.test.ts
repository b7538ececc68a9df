import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { checkedStream } from '#lib/catalog/providers/http/body.ts'
import { repeating } from '#lib/catalog/providers/http/peer.ts'
import { discard } from '#lib/catalog/providers/http/reply.ts'
import { Passing } from '#lib/catalog/providers/http/retry.ts'
import { createFetcher } from '#lib/catalog/providers/http/send.ts'
import { bodyOf, watched } from '#lib/catalog/providers/http/sent-body.ts'
import { bytesOf } from '../../../contracts/provider.ts'

const idle = 400
const fetcher = createFetcher({ idle })

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** The address of a server that answers so. */
const serve = async (listener: RequestListener): Promise<URL> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a`)
}

/** Reads what is sent, and answers. */
const takes: RequestListener = (request, response) => void request.resume().once('end', () => response.end('done'))

test('a source that is slow is no idle server', async () => {
  const open = async function* () {
    yield Buffer.from('pa')
    await pause(3 * idle)
    yield Buffer.from('ck')
  }
  const reply = await fetcher({ method: 'PUT', url: await serve(takes), body: { size: 4, open } })
  expect(reply.status).toBe(200)
  discard(reply)
})

test('a server that takes nothing is idle', async () => {
  const url = await serve(() => undefined)
  const body = bodyOf(Buffer.alloc(64 * 1024 * 1024))
  await expect(fetcher({ method: 'PUT', url, body })).rejects.toThrow('nothing came or went for 0.4 s')
})

test('the answer to much may take longer', async () => {
  // It says that it has three GiB, and is not held to it by whoever answers.
  const open = async function* () {
    yield Buffer.from('pack')
  }
  const slow = await serve((_, response) => void pause(2 * idle).then(() => response.end('done')))
  const reply = await fetcher({ method: 'PUT', url: slow, body: { size: 3 * 1024 ** 3, open } })
  expect(reply.status).toBe(200)
  discard(reply)
  const little = fetcher({ method: 'PUT', url: slow, body: { size: 4, open } })
  await expect(little).rejects.toThrow('nothing came or went for 0.4 s')
})

test('what has come as a whole is there for a reader who is slow', async () => {
  const url = await serve((_, response) => {
    response.write('pack')
    void pause(idle / 4).then(() => response.end())
  })
  const { body } = await fetcher({ method: 'GET', url })
  const stream = checkedStream(body, { host: 'x', what: 'a', size: 4 })
  await pause(3 * idle)
  expect((await bytesOf(stream)).toString()).toBe('pack')
})

test.each([
  ['an error of its own', new Error('the disk is broken')],
  ['what may pass', new Passing('the other storage is busy', undefined)],
])('what a source fails with, %s, is thrown as it is and once', async (_, error) => {
  let opened = 0
  const open = async function* () {
    opened += 1
    yield Buffer.from('pa')
    throw error
  }
  const sent = repeating(fetcher)({ method: 'PUT', url: await serve(takes), body: { size: 4, open } })
  expect(await sent.catch((thrown: unknown) => thrown)).toBe(error)
  expect(opened).toBe(1)
})

test('a source does not fail with what its connection breaks with', async () => {
  const source = watched(bodyOf(Buffer.from('pack')))
  const bytes = source.body.open()[Symbol.asyncIterator]()
  await bytes.next()
  await expect(bytes.throw!(new Error('broken'))).rejects.toThrow('broken')
  expect(source.failure()).toBeUndefined()
})

test('an upload whose connection breaks is sent again, and again', async () => {
  let opened = 0
  const bytes = Buffer.alloc(20 * 1024 * 1024)
  const open = () => {
    opened += 1
    return bodyOf(bytes).open()
  }
  const url = await serve((request, response) => {
    if (opened < 3) request.once('data', () => request.socket.destroy())
    else takes(request, response)
  })
  const once = fetcher({ method: 'PUT', url, body: { size: bytes.length, open } })
  await expect(once).rejects.toBeInstanceOf(Passing)
  opened = 0
  const reply = await repeating(fetcher)({ method: 'PUT', url, body: { size: bytes.length, open } })
  expect([reply.status, opened]).toEqual([200, 3])
  discard(reply)
})

test('few connections serve the requests whose replies are given back', async () => {
  const ports = new Set<number | undefined>()
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort)
    response.writeHead(404, { 'Content-Length': request.method === 'GET' ? '9' : '1000000' })
    response.end('not there')
  })
  for (let count = 0; count < 10; count += 1)
    for (const method of ['HEAD', 'GET']) discard(await fetcher({ method, url }))
  expect(ports.size).toBeLessThan(4)
})

test('a refusal that comes before the body is there is heard', async () => {
  const url = await serve((_, response) => {
    response.writeHead(403, { 'Content-Length': '2' })
    response.end('no')
  })
  const reply = await fetcher({ method: 'PUT', url, body: bodyOf(Buffer.alloc(64 * 1024 * 1024)) })
  expect(reply.status).toBe(403)
  discard(reply)
})
