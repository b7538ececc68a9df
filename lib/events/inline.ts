import { createHandshakes } from '#lib/platform/web-sockets.ts'
import { createClients } from './clients.ts'
import type { Hub } from './hub.ts'
import type { Readers } from './readers.ts'

/** Serves WebSockets in this process. */
export const createInlineReaders = (hub: Hub): Readers => {
  const clients = createClients(hub)
  const complete = createHandshakes()
  return {
    ...clients,
    ready: async () => {},
    take: (handshake, admitted) => complete(handshake, socket => clients.open(socket, admitted)),
    [Symbol.asyncDispose]: async () => clients[Symbol.dispose](),
  }
}
