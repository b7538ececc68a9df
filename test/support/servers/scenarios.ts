import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { createSelfSigned } from '#lib/platform/self-signed.ts'
import { outlastIdle } from '../silence.ts'

/** What a server does with a request, by the first part of its path; `argument` is the second. */
type Scenario = (request: IncomingMessage, response: ServerResponse, argument: string) => unknown

export interface ScenarioServer extends AsyncDisposable {
  /** Ends with a slash. */
  readonly url: string
  /** The same with a certificate that nobody trusts. */
  readonly tlsUrl: string
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
const speak =
  (text: string): Scenario =>
  (_, response) =>
    response.socket!.end(text)

const accept: Scenario = (request, response) => {
  let size = 0
  request.on('data', (chunk: Buffer) => void (size += chunk.length))
  request.once('end', () => response.end(JSON.stringify({ method: request.method, headers: request.headers, size })))
}

/** Replies of servers to clients that send requests: good ones, broken ones and none. */
const createScenarios = (): Readonly<Record<string, Scenario>> => {
  /** Requests that came, by their path. */
  const counts = new Map<string, number>()
  const count = (path: string): number => {
    counts.set(path, (counts.get(path) ?? 0) + 1)
    return counts.get(path)!
  }
  let waiting = 0
  return {
    accept,
    /** Replies after so many milliseconds, measured as silence on a connection. */
    late: (request, response, milliseconds) =>
      void outlastIdle(Number(milliseconds)).then(() => accept(request, response, '')),
    /** Breaks the first two connections as the body comes. */
    'breaks-twice'(request, response, id) {
      if (count(id) > 2) accept(request, response, '')
      else request.once('data', () => request.socket.destroy())
    },
    /** How many requests came to `breaks-twice`. */
    count: (_, response, id) => response.end(String(counts.get(id) ?? 0)),
    refuses(_, response) {
      response.writeHead(403, { 'Content-Length': '2' })
      response.end('no')
    },
    missing(request, response) {
      response.writeHead(404, { 'Content-Length': '9' })
      response.end(request.method === 'HEAD' ? undefined : 'not there')
    },
    'no-content': (_, response) => response.writeHead(204).end(),
    'reads-nothing': () => undefined,
    /** Never replies, and counts the clients that wait. */
    silent(request) {
      waiting += 1
      request.socket.once('close', () => void (waiting -= 1))
    },
    waiting: (_, response) => response.end(String(waiting)),
    half: (_, response) => response.socket!.write(`${head}Content-Length: 100\r\n\r\n[`),
    /** Bytes that come in two parts, the second after some silence. */
    'two-parts'(_, response, milliseconds) {
      response.write('pa')
      void outlastIdle(Number(milliseconds)).then(() => response.end('ck'))
    },
    bytes(request, response, size) {
      const bytes = Buffer.alloc(Number(size), '0123456789')
      const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const part = start === undefined ? bytes : bytes.subarray(Number(start), Number(end) + 1)
      response.writeHead(start === undefined ? 200 : 206, {
        'Content-Length': part.length,
        ...(start !== undefined && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
      })
      response.end(part)
    },
    redirects: (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('away'),
    'a body that is cut': speak(`${head}Content-Length: 100\r\n\r\n[`),
    'chunks that are cut': speak(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n[1`),
    'no HTTP': speak('SSH-2.0-x\r\n'),
    nothing: speak(''),
    'headers without end': speak(`${head}X: ${'x'.repeat(200_000)}\r\n\r\n`),
    'another protocol': speak('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  }
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  // A server on a port has an address of this kind.
  return (server.address() as AddressInfo).port
}

/** Starts the server of these scenarios on ports of the loopback: GET /half gives half a reply. */
export const startScenarios = async (): Promise<ScenarioServer> => {
  const scenarios = createScenarios()
  const server = createServer((request, response) => {
    const [, name = '', argument = ''] = decodeURIComponent(request.url!).split('/')
    scenarios[name]!(request, response, argument)
  })
  server.on('connection', socket => socket.on('error', () => undefined))
  const tlsServer = createTlsServer(await createSelfSigned(['127.0.0.1']), (_, response) => response.end('in'))
  const [port, tlsPort] = [await listen(server), await listen(tlsServer)]
  return {
    url: `http://127.0.0.1:${port}/`,
    tlsUrl: `https://127.0.0.1:${tlsPort}/`,
    async [Symbol.asyncDispose]() {
      for (const one of [server, tlsServer]) {
        one.closeAllConnections()
        await new Promise(resolve => one.close(resolve))
      }
    },
  }
}
