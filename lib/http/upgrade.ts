import type { Handshake } from '#lib/platform/web-sockets.ts'

/** A reply that turns the connection into a WebSocket. */
export class Upgrade {
  /** Is given the connection. */
  readonly take: (handshake: Handshake) => void

  constructor(take: (handshake: Handshake) => void) {
    this.take = take
  }
}
