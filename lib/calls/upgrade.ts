import { SpecialReply } from './special-reply.ts'

/**
 * A request to become a WebSocket that has no answer yet. Node and the edge each have an implementation, which completes the
 * handshake.
 */
export interface Handshake {
  /** Whether the client has gone away. */
  isGone(): boolean
  /** Answers that this connection does not become a WebSocket, in the documented shape. */
  refuse(status: number, message: string): void
  /** Calls a listener when the connection has closed. */
  onClosed(listener: () => void): void
  /**
   * Completes the handshake with a WebSocket that another service has accepted; its messages pass between both sides from then on.
   * Only runtimes have it that can do so.
   */
  passOn?(socket: object): void
}

/** A reply that turns the connection into a WebSocket. */
export class Upgrade extends SpecialReply {
  /** Takes over the connection and completes the handshake. */
  readonly accept: (handshake: Handshake) => void

  constructor(accept: (handshake: Handshake) => void) {
    super()
    this.accept = accept
  }
}
