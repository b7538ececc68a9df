import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { createClient, type EventClient } from './client.ts'
import type { Hub } from './hub.ts'
import type { Admitted, Readers } from './readers.ts'

/** The WebSockets of this process. */
export interface Clients extends Pick<Readers, 'setPrincipal' | 'drop' | 'close' | 'activity' | 'sent'>, Disposable {
  /** `connection`: what is below the WebSocket. */
  open(socket: WebSocket, connection: Duplex, admitted: Admitted): void
}

const beatEvery = 30_000
const earlyFor = 60_000

/** Disposing tells every client that the service ends. */
export const createClients = (hub: Hub): Clients => {
  const clients = new Map<string, EventClient>()
  const early = new Map<string, ((client: EventClient) => void)[]>()
  let sent = 0
  /** Does something to a client, at once or when it comes: what is said of it may overtake its connection. */
  const to = (id: string, act: (client: EventClient) => void): void => {
    const client = clients.get(id)
    if (client) return act(client)
    const waiting = early.get(id)
    if (waiting) return void waiting.push(act)
    early.set(id, [act])
    // By then it has come, or had gone before.
    setTimeout(() => early.delete(id), earlyFor).unref()
  }
  const beats = setInterval(() => clients.forEach(client => client.beat()), beatEvery)
  beats.unref()
  return {
    open(socket, connection, admitted) {
      const client = createClient({
        socket,
        connection,
        hub,
        admitted,
        sent: messages => void (sent += messages),
        closed: ({ id }) => void clients.delete(id),
      })
      clients.set(client.id, client)
      for (const act of early.get(client.id) ?? []) act(client)
      early.delete(client.id)
    },
    setPrincipal: (id, principal) => to(id, client => client.setPrincipal(principal)),
    drop: (id, types) => to(id, client => client.drop(types)),
    close: (id, code, reason) => to(id, client => client.close(code, reason)),
    activity: async () => new Map([...clients].map(([id, client]) => [id, client.activity()])),
    sent: () => sent,
    [Symbol.dispose]() {
      clearInterval(beats)
      for (const client of clients.values()) client.close(1001, 'The service is shutting down.')
    },
  }
}
