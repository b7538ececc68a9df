import type { WebSocket } from 'ws'
import { createClient, type EventClient } from './client.ts'
import type { Hub } from './hub.ts'
import type { Admitted, Readers } from './readers.ts'

/** The WebSockets of this process. */
export interface Clients extends Pick<Readers, 'setPrincipal' | 'drop' | 'close' | 'activity' | 'sent'>, Disposable {
  open(socket: WebSocket, admitted: Admitted): void
}

const beatEvery = 30_000

/** Disposing tells every client that the service ends. */
export const createClients = (hub: Hub): Clients => {
  const clients = new Map<string, EventClient>()
  let sent = 0
  const beats = setInterval(() => clients.forEach(client => client.beat()), beatEvery)
  beats.unref()
  return {
    open(socket, admitted) {
      const client = createClient({
        socket,
        hub,
        admitted,
        sent: messages => void (sent += messages),
        closed: ({ id }) => void clients.delete(id),
      })
      clients.set(client.id, client)
    },
    setPrincipal: (id, principal) => clients.get(id)?.setPrincipal(principal),
    drop: (id, types) => clients.get(id)?.drop(types),
    close: (id, code, reason) => clients.get(id)?.close(code, reason),
    activity: async () => new Map([...clients].map(([id, client]) => [id, client.activity()])),
    sent: () => sent,
    [Symbol.dispose]() {
      clearInterval(beats)
      for (const client of clients.values()) client.close(1001, 'The service is shutting down.')
    },
  }
}
