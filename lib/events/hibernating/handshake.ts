import type { Handshake, Upgrade } from '#lib/calls/upgrade.ts'
import type { HibernatingSocket } from './socket.ts'

/** A handshake in a Durable Object, whose runtime has made the WebSocket already. */
export class PairHandshake implements Handshake {
  readonly socket: HibernatingSocket
  /** The WebSocket that the client gets in place of the other end of `socket`. */
  passedOn: object | undefined = undefined
  /** What is replied in place of the WebSocket. */
  refusal: Response | undefined = undefined

  constructor(socket: HibernatingSocket) {
    this.socket = socket
  }

  /** Gives a handshake back as what it is. Throws for one of another program's kind. */
  static of(handshake: Handshake): PairHandshake {
    if (handshake instanceof PairHandshake) return handshake
    throw new TypeError('This handshake is not of a Durable Object.')
  }

  isGone(): boolean {
    return false
  }

  refuse(code: number, message: string): void {
    this.refusal = Response.json({ code, message }, { status: code })
  }

  passOn(socket: object): void {
    this.passedOn = socket
  }

  /** Does nothing: the runtime calls the Durable Object itself when a connection has closed. */
  onClosed(): void {}
}

/** The two ends of a WebSocket: the one that the runtime gives to the client, and the one that stays here. */
interface SocketPair {
  readonly client: object
  readonly server: HibernatingSocket
}

/** Completes an upgrade that the application has admitted; gives the reply that the runtime turns into a WebSocket. */
export const completeUpgrade = (answered: Upgrade | Response, { client, server }: SocketPair): Response => {
  if (answered instanceof Response) return answered
  const handshake = new PairHandshake(server)
  answered.accept(handshake)
  // The runtime's own member of a reply.
  const init: ResponseInit & { readonly webSocket: object } = { status: 101, webSocket: handshake.passedOn ?? client }
  return handshake.refusal ?? new Response(null, init)
}
