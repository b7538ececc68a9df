import { createHandshakes, SocketHandshake } from '#lib/platform/web-sockets.ts'
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
    accept(handshake, admitted) {
      const request = SocketHandshake.of(handshake)
      completeHandshake(request, socket => clients.open(socket, request.socket, admitted))
    },
    [Symbol.asyncDispose]: async () => clients[Symbol.dispose](),
  }
}
