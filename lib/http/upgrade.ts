import type { WebSocket } from 'ws'

/** A reply that turns the connection into a WebSocket. */
export class Upgrade {
  /** Is given the open socket. */
  readonly open: (socket: WebSocket) => void

  constructor(open: (socket: WebSocket) => void) {
    this.open = open
  }
}
