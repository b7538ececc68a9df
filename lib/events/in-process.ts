import { createHandshakes } from '#lib/platform/web-sockets.ts'
import { createEventClients } from './clients.ts'
import type { Hub } from './hub.ts'
import type { EventGateway } from './gateway.ts'

/** A gateway that serves WebSockets in this process. */
export const createInProcessGateway = (hub: Hub): EventGateway => {
  const clients = createEventClients(hub)
  const completeHandshake = createHandshakes()
  return {
    ...clients,
    ready: async () => {},
    accept: (handshake, admitted) =>
      completeHandshake(handshake, socket => clients.open(socket, handshake.socket, admitted)),
    [Symbol.asyncDispose]: async () => clients[Symbol.dispose](),
  }
}
