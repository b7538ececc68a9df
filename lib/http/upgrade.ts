import type { WebSocketServer } from 'ws'

type Given = Parameters<WebSocketServer['handleUpgrade']>

/** A connection that asks to become a WebSocket, and was not answered yet. */
export interface Handshake {
  readonly incoming: Given[0]
  readonly socket: Given[1]
  /** What came after the request. */
  readonly head: Given[2]
}

/** A reply that turns the connection into a WebSocket. */
export class Upgrade {
  /** Is given the connection. */
  readonly take: (handshake: Handshake) => void

  constructor(take: (handshake: Handshake) => void) {
    this.take = take
  }
}
