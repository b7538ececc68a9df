/**
 * A request to become a WebSocket that was not answered yet. Each program has a kind of its own, which its gateway of
 * events completes.
 */
export interface Handshake {
  /** Whether the client has gone away. */
  isGone(): boolean
  /** Answers that this connection does not become a WebSocket, in the documented shape. */
  refuse(status: number, message: string): void
  /** Calls a listener when the connection has closed. */
  onClosed(listener: () => void): void
}

/** A reply that turns the connection into a WebSocket. */
export class Upgrade {
  /** Takes over the connection and completes the handshake. */
  readonly accept: (handshake: Handshake) => void

  constructor(accept: (handshake: Handshake) => void) {
    this.accept = accept
  }
}
