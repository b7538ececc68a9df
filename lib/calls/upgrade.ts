import type { WebSocketServer } from 'ws'

type HandleUpgradeParameters = Parameters<WebSocketServer['handleUpgrade']>

/** A WebSocket upgrade request that was not answered yet. */
export interface Handshake {
  readonly incoming: HandleUpgradeParameters[0]
  readonly socket: HandleUpgradeParameters[1]
  /** Bytes that followed the request. */
  readonly head: HandleUpgradeParameters[2]
}

/** A reply that turns the connection into a WebSocket. */
export class Upgrade {
  /** Takes over the connection and completes the handshake. */
  readonly accept: (handshake: Handshake) => void

  constructor(accept: (handshake: Handshake) => void) {
    this.accept = accept
  }
}
