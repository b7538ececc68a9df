import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { getRequestListener } from '@hono/node-server'
import { ServiceError, messageOf } from '#lib/errors.ts'
import type { Certificate } from './certificate.ts'
import type { ClientAddress } from './client-address.ts'
import type { Handshake } from '#lib/http/upgrade.ts'
import { acceptWebSockets, asksForWebSocket } from './web-sockets.ts'

interface Options {
  /** `https:` needs a certificate. */
  readonly address: URL
  readonly tls?: Certificate | undefined
  readonly clientAddress: ClientAddress
  readonly fetch: (request: Request, from: From) => Response | Promise<Response>
  /** Answers a request to become a WebSocket: what takes the socket, or the refusal. */
  readonly upgrade: (
    request: Request,
    from: From,
  ) => Promise<{ readonly take: (handshake: Handshake) => void } | Response>
}

interface From {
  /** The caller's IP address. */
  readonly address: string
}

export interface Listener {
  /** Where it listens, with the port that it got. */
  readonly url: string
  /** Shows another certificate on new connections. */
  setCertificate(certificate: Certificate): void
  /** Takes no new request, lets those under way end for some seconds, then closes every connection. */
  close(): Promise<void>
}

const drainTime = 5_000
const tlsLimits = { minVersion: 'TLSv1.2' } as const

/** What no application sees because it is not HTTP: answered in the documented shape all the same. */
const refuseGarbage = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy(error) && undefined
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW'
  const code = tooLong ? 431 : 400
  const message = tooLong ? 'The header of the request is too long.' : 'This is not an HTTP request.'
  const body = JSON.stringify({ code, message })
  const reason = tooLong ? 'Request Header Fields Too Large' : 'Bad Request'
  socket.end(
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

/** Serves `fetch` over HTTP or HTTPS. Throws `unavailable` when the address cannot be had. */
export const openListener = async ({ address, tls, clientAddress, fetch, upgrade }: Options): Promise<Listener> => {
  const originOf = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): { address: string } => ({
    address: clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString()),
  })
  const answer = (request: Request, { incoming }: { incoming: Pick<IncomingMessage, 'socket' | 'headers'> }) =>
    fetch(request, originOf(incoming))
  const handle = getRequestListener(answer, {
    errorHandler: () =>
      Response.json({ code: 400, message: 'The address of this request is not valid.' }, { status: 400 }),
  })
  // A missing Host is refused where every bad address is, with a body that says so.
  const limits = {
    requestTimeout: 300_000,
    headersTimeout: 30_000,
    keepAliveTimeout: 60_000,
    requireHostHeader: false,
    shouldUpgradeCallback: asksForWebSocket,
  }
  const server: Server = tls
    ? createHttpsServer({ ...limits, ...tls, ...tlsLimits }, handle)
    : createHttpServer(limits, handle)
  server.on('clientError', refuseGarbage)
  acceptWebSockets(server, (request, incoming) => upgrade(request, originOf(incoming)))
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
  const { port } = server.address() as AddressInfo
  return {
    url: `${address.protocol}//${address.hostname}:${port}`,
    setCertificate(certificate) {
      if (server instanceof TlsServer) server.setSecureContext({ ...certificate, ...tlsLimits })
    },
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), drainTime)
      await closed
      clearTimeout(timer)
    },
  }
}
