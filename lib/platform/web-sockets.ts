import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Handshake } from '#lib/calls/upgrade.ts'

/** What Node's server gives with an upgrade request. */
interface UpgradeRequest {
  readonly incoming: IncomingMessage
  readonly socket: Duplex
  /** Bytes that followed the request. */
  readonly head: Buffer
}

/** Answers a request to become a WebSocket: what takes the connection, or the refusal. */
export type AnswerUpgrade = (
  request: Request,
  incoming: IncomingMessage,
) => Promise<{ readonly accept: (handshake: Handshake) => void } | Response>

/** Bytes of a message that a client may send, unless the endpoint takes longer ones. */
const longestMessage = 64 * 1024

/**
 * Whether a request asks for a WebSocket, which a GET alone can (RFC 6455, 4.1); any other upgrade is not taken up, and
 * the request served as it is.
 */
export const isWebSocketRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '')

const json = new Headers({ 'content-type': 'application/json' })

const refuse = (socket: Duplex, status: number, headers: Headers, body: string): void => {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Refuses a connection that was to become a WebSocket, in the documented shape. */
export const refuseUpgrade = (socket: Duplex, code: number, message: string): void =>
  refuse(socket, code, json, JSON.stringify({ code, message }))

/** A handshake on a connection of Node's server. */
export class SocketHandshake implements Handshake, UpgradeRequest {
  readonly incoming: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer

  constructor({ incoming, socket, head }: UpgradeRequest) {
    this.incoming = incoming
    this.socket = socket
    this.head = head
  }

  /** Gives a handshake back as what it is. Throws for one of another program's kind. */
  static of(handshake: Handshake): SocketHandshake {
    if (handshake instanceof SocketHandshake) return handshake
    throw new TypeError("This handshake is not on a connection of Node's server.")
  }

  isGone(): boolean {
    return this.socket.destroyed
  }

  refuse(status: number, message: string): void {
    refuseUpgrade(this.socket, status, message)
  }

  onClosed(listener: () => void): void {
    this.socket.once('close', listener)
  }
}

/** The request with its headers as they came, those that came twice joined; undefined where Host names no host. */
const requestOf = ({ url = '/', headers: { host = '' }, rawHeaders }: IncomingMessage): Request | undefined => {
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}`)) return undefined
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  return new Request(`http://${host}${url}`, { headers })
}

/** Chooses among the subprotocols that a client offers. Viewers of screens offer `binary` beside others that nobody means. */
const handleProtocols = (offered: ReadonlySet<string>): string | false => {
  const [first = false] = offered
  return offered.has('binary') ? 'binary' : first
}

/**
 * Makes what completes handshakes: `opened` is given the WebSocket; a handshake that is none is refused. `maxPayload` is the most
 * bytes of a message that a client may send.
 */
export const createHandshakes = (
  maxPayload: number = longestMessage,
): ((request: UpgradeRequest, opened: (socket: WebSocket) => void) => void) => {
  const sockets = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, handleProtocols })
  sockets.on('wsClientError', (error, socket) =>
    refuseUpgrade(socket, 400, `This is not a WebSocket handshake: ${error.message}.`),
  )
  return ({ incoming, socket, head }, opened) => sockets.handleUpgrade(incoming, socket, head, opened)
}

/** Lets a server take up WebSockets, after the application has admitted each of them. */
export const acceptWebSockets = (server: Server, upgrade: AnswerUpgrade): void => {
  const answer = async (handshake: SocketHandshake): Promise<void> => {
    const request = requestOf(handshake.incoming)
    if (!request) return handshake.refuse(400, 'The address of this request is not valid.')
    const answered = await upgrade(request, handshake.incoming)
    if (answered instanceof Response)
      return refuse(handshake.socket, answered.status, answered.headers, await answered.text())
    answered.accept(handshake)
  }
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    answer(new SocketHandshake({ incoming, socket, head })).catch(() => socket.destroy())
  })
}
