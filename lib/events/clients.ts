import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { createClient, type EventClient } from './client.ts'
import type { Hub } from './hub.ts'
import type { AdmittedClient, EventGateway } from './gateway.ts'

/** The WebSockets that this process serves. */
export interface EventClients
  extends Pick<EventGateway, 'setPrincipal' | 'unsubscribe' | 'close' | 'activity' | 'sent'>, Disposable {
  /** Serves a WebSocket until it closes. `connection` is the connection below it. */
  open(socket: WebSocket, connection: Duplex, admitted: AdmittedClient): void
}

const pingInterval = 30_000
const earlyActionTimeout = 60_000

/** Disposing closes every client with 1001, "going away". */
export const createEventClients = (hub: Hub): EventClients => {
  const clients = new Map<string, EventClient>()
  const earlyActions = new Map<string, ((client: EventClient) => void)[]>()
  let sent = 0
  /** Runs an action on a client, now or as soon as it connects: a command may arrive before the client's connection. */
  const runFor = (id: string, action: (client: EventClient) => void): void => {
    const client = clients.get(id)
    if (client) return action(client)
    const waiting = earlyActions.get(id)
    if (waiting) return void waiting.push(action)
    earlyActions.set(id, [action])
    // A client that has not connected by then was gone before the command came.
    setTimeout(() => earlyActions.delete(id), earlyActionTimeout).unref()
  }
  const pingTimer = setInterval(() => clients.forEach(client => client.ping()), pingInterval)
  pingTimer.unref()
  return {
    open(socket, connection, admitted) {
      const client = createClient({
        socket,
        connection,
        hub,
        admitted,
        onSent: messages => void (sent += messages),
        onClosed: ({ id }) => void clients.delete(id),
      })
      clients.set(client.id, client)
      for (const action of earlyActions.get(client.id) ?? []) action(client)
      earlyActions.delete(client.id)
    },
    setPrincipal: (id, principal) => runFor(id, client => client.setPrincipal(principal)),
    unsubscribe: (id, types) => runFor(id, client => client.unsubscribe(types)),
    close: (id, code, reason) => runFor(id, client => client.close(code, reason)),
    activity: async () => new Map([...clients].map(([id, client]) => [id, client.activity()])),
    sent: () => sent,
    [Symbol.dispose]() {
      clearInterval(pingTimer)
      for (const client of clients.values()) client.close(1001, 'The service is shutting down.')
    },
  }
}
