import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

interface Options {
  /** Answers a request to become a WebSocket: what takes the socket, or the refusal. */
  readonly upgrade: (
    request: Request,
    incoming: IncomingMessage,
  ) => Promise<{ readonly open: (socket: WebSocket) => void } | Response>
}

/** Bytes of a message that a client may send. */
const longestMessage = 64 * 1024

/**
 * Whether a request asks for a WebSocket, which a GET alone can (RFC 6455, 4.1); any other upgrade is not taken up, and
 * the request served as it is.
 */
export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '')

const refuse = (socket: Duplex, status: number, headers: Headers, body: string): void => {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const requestOf = ({ url = '/', headers }: IncomingMessage): Request => {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), { headers: given })
}

const badHandshake = new Headers({ 'content-type': 'application/json' })

/** Lets a server take up WebSockets, after the application has admitted each of them. */
export const acceptWebSockets = (server: Server, { upgrade }: Options): void => {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: longestMessage, perMessageDeflate: false })
  sockets.on('wsClientError', (error, socket) =>
    refuse(
      socket,
      400,
      badHandshake,
      JSON.stringify({ code: 400, message: `This is not a WebSocket handshake: ${error.message}.` }),
    ),
  )
  const answer = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const answered = await upgrade(requestOf(incoming), incoming)
    if (answered instanceof Response) return refuse(socket, answered.status, answered.headers, await answered.text())
    sockets.handleUpgrade(incoming, socket, head, opened => answered.open(opened))
  }
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    answer(incoming, socket, head).catch(() => socket.destroy())
  })
}
