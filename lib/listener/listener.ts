import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import { ServiceError, messageOf } from '#lib/errors.ts'
import type { Certificate } from '#lib/platform/certificate.ts'
import type { ClientAddress } from '#lib/platform/client-address.ts'
import { createDirectHandler } from './direct.ts'
import { refuseSecondHost } from '#lib/platform/one-host.ts'
import type { App } from '#lib/http/app.ts'
import type { Handshake } from '#lib/calls/upgrade.ts'
import { acceptWebSockets, isWebSocketRequest, refuseUpgrade } from '#lib/platform/web-sockets.ts'

interface Options extends Pick<App, 'direct'> {
  /** `https:` needs a certificate. */
  readonly address: URL
  readonly tls?: Certificate | undefined
  readonly clientAddress: ClientAddress
  readonly fetch: (request: Request, from: RequestOrigin) => Response | Promise<Response>
  /** Answers a WebSocket upgrade request: gives an object that accepts the socket, or the refusal. */
  readonly upgrade: (
    request: Request,
    from: RequestOrigin,
  ) => Promise<{ readonly accept: (handshake: Handshake) => void } | Response>
  /** Whether this path is a WebSocket endpoint. The upgrade header is ignored everywhere else. */
  readonly isWebSocket: (target: string) => boolean
}

interface RequestOrigin {
  /** The caller's IP address. */
  readonly address: string
}

export interface Listener {
  /** The address that it listens on, with the actual port. */
  readonly url: string
  /** Uses another certificate for new connections. */
  setCertificate(certificate: Certificate): void
  /** Stops accepting requests, waits for running ones until the deadline (by default some seconds), then closes every connection. */
  close(deadline?: AbortSignal): Promise<void>
}

const drainTime = 5_000
const tlsLimits = { minVersion: 'TLSv1.2' } as const

const refusals: Readonly<Record<string, readonly [code: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The header of the request is too long.'],
  ERR_SSL_HTTP_REQUEST: [400, 'Bad Request', 'This port speaks HTTPS: begin the address with https://.'],
}

/** The plain connection below a failed TLS handshake, on which a plain HTTP reply can be sent. */
const getRawConnection = (socket: Socket & { readonly _parent?: Socket }): Socket => {
  // Node has no public name for it. Without it the connection is closed without a reply.
  const connection = socket._parent ?? socket
  connection.once('finish', () => connection.destroy())
  return connection
}

/** Answers input that is not HTTP, which never reaches the application, with an error in the documented shape. */
const refuseNonHttp = (error: NodeJS.ErrnoException, socket: Socket): void => {
  const connection = error.code === 'ERR_SSL_HTTP_REQUEST' ? getRawConnection(socket) : socket
  if (error.code === 'ECONNRESET' || !connection.writable) return connection.destroy(error) && undefined
  const [code, reason, message] = refusals[error.code ?? ''] ?? [400, 'Bad Request', 'This is not an HTTP request.']
  const body = JSON.stringify({ code, message })
  connection.end(
    `HTTP/1.1 ${code} ${reason}\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const listen = (server: Server, address: URL): Promise<void> =>
  new Promise((resolve, reject) => {
    const port = Number(address.port || (address.protocol === 'https:' ? 443 : 80))
    server.once('error', reject)
    server.listen({ port, host: address.hostname.replace(/^\[|\]$/g, '') }, () => {
      server.off('error', reject)
      resolve()
    })
  })

/** Serves `fetch` over HTTP or HTTPS. Throws `unavailable` when it cannot listen on the address. */
export const openListener = async (options: Options): Promise<Listener> => {
  const { address, tls, clientAddress, fetch, upgrade, direct, isWebSocket } = options
  const getAddress = (incoming: Pick<IncomingMessage, 'socket' | 'headers'>): string =>
    // Node builds `headers` when they are first read, which costs as much as the rest of a small request.
    clientAddress(incoming.socket.remoteAddress ?? '', () => incoming.headers['x-forwarded-for']?.toString())
  type Incoming = Pick<IncomingMessage, 'socket' | 'headers' | 'rawHeaders'>
  const answer = (request: Request, { incoming }: { incoming: Incoming }) =>
    refuseSecondHost(incoming) ?? fetch(request, { address: getAddress(incoming) })
  const handle = getRequestListener(answer, {
    errorHandler: () =>
      Response.json({ code: 400, message: 'The address of this request is not valid.' }, { status: 400 }),
  })
  const answerDirectly = createDirectHandler({ direct, getAddress })
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): unknown =>
    answerDirectly(incoming, outgoing) || handle(incoming, outgoing)
  // Requests without Host are refused later, like other bad addresses, with a body that says so.
  const limits = {
    requestTimeout: 300_000,
    headersTimeout: 30_000,
    keepAliveTimeout: 60_000,
    requireHostHeader: false,
    // Most requests have no body, and their streams need no events.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback: (incoming: IncomingMessage) =>
      isWebSocketRequest(incoming) && isWebSocket(incoming.url ?? ''),
  }
  const server: Server = tls
    ? createHttpsServer({ ...limits, ...tls, ...tlsLimits }, onRequest)
    : createHttpServer(limits, onRequest)
  server.on('clientError', refuseNonHttp)
  acceptWebSockets(
    server,
    async (request, incoming) => refuseSecondHost(incoming) ?? upgrade(request, { address: getAddress(incoming) }),
  )
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy())
    refuseUpgrade(socket, 501, 'This is no proxy: it connects to no other host for you.')
  })
  server.on('checkExpectation', (_, response) => {
    const body = JSON.stringify({ code: 417, message: 'The only expectation that is met is 100-continue.' })
    response.writeHead(417, { 'Content-Type': 'application/json', 'Content-Length': body.length, Connection: 'close' })
    response.end(body)
  })
  await listen(server, address).catch((error: unknown) => {
    throw new ServiceError(
      'unavailable',
      `The service cannot listen on ${address.origin}: ${messageOf(error)}. Choose another address with --listen.`,
    )
  })
  // A server that listens on a host and a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return {
    url: `${address.protocol}//${address.hostname}:${port}`,
    setCertificate(certificate) {
      if (server instanceof TlsServer) server.setSecureContext({ ...certificate, ...tlsLimits })
    },
    async close(deadline = AbortSignal.timeout(drainTime)) {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      deadline.addEventListener('abort', () => server.closeAllConnections())
      await closed
    },
  }
}
