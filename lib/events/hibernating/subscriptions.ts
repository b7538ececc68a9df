import type { Principal } from '#lib/access/principal.ts'
import type { SessionReferences } from '#lib/access/session-reference.ts'
import type { Every } from '#lib/async/every.ts'
import { messageOf } from '#lib/errors.ts'
import { formatCursor } from '../cursor.ts'
import type { EventType } from '../event.ts'
import type { Events } from '../events.ts'
import type { Hub } from '../hub.ts'
import { parseEventTypes } from '../schemas.ts'
import {
  checkLimits,
  countSubscriptions,
  parseUnsubscription,
  type SubscriberLimits,
  toClientRecord,
} from '../subscribers.ts'
import type { Subscriptions } from '../subscriptions.ts'
import { createHibernatingClient, type HibernatingClient, unconfirmedReason } from './client.ts'
import { PairHandshake } from './handshake.ts'
import { type ClientState, type HibernatingSocket, type HibernatingSockets, readClientState } from './socket.ts'

/** Subscriptions over the WebSockets of a Durable Object, which stay open while the object sleeps. */
export interface HibernatingSubscriptions extends Pick<Subscriptions, 'admit' | 'unsubscribe' | 'clients' | 'stats'> {
  /** Handles a message of a client. */
  onMessage(socket: HibernatingSocket, data: string | ArrayBuffer): void
  /** Forgets a client whose connection has ended. */
  onClosed(socket: HibernatingSocket): void
  /**
   * Milliseconds since 1970 at which the next session of a client ends by itself. An alarm has to run the timers then,
   * because nothing else wakes the object.
   */
  nextExpiry(): number | undefined
}

interface Options {
  readonly events: Pick<Events, 'head' | 'resolveCursor' | 'onCommit'>
  readonly hub: Hub
  /** The context of the Durable Object. */
  readonly sockets: HibernatingSockets
  readonly sessions: SessionReferences
  readonly every: Every
  readonly limits: SubscriberLimits
}

/** Milliseconds between two checks of all sessions. Events are sent only after a check of their own. */
const checkInterval = 1_000
/** The most characters of a message of a client. */
const maxMessageLength = 64 * 1024
/** Bytes that all clients together may leave unconfirmed. The memory of a Durable Object ends at 128 MB. */
const maxUnconfirmedInAll = 32 << 20

/** Opens the subscriptions of a Durable Object, those included that were there before it slept. */
export const createHibernatingSubscriptions = (options: Options): HibernatingSubscriptions => {
  const { events, hub, sockets, sessions, every, limits } = options
  const clients = new Map<string, HibernatingClient>()
  const startedAt = Date.now()
  let [sent, unconfirmed] = [0, 0]

  const onUnconfirmedChange = (change: number): void => {
    unconfirmed += change
    if (change <= 0 || unconfirmed <= maxUnconfirmedInAll) return
    const [slowest] = [...clients.values()].toSorted((a, b) => b.activity().queuedBytes - a.activity().queuedBytes)
    slowest?.close(1013, unconfirmedReason)
  }
  const addClient = (socket: HibernatingSocket, state: ClientState): { client: HibernatingClient; gap: boolean } => {
    const { cursor: after, gap } = events.resolveCursor(state.cursor)
    const onSent = (messages: number): void => void (sent += messages)
    const client = createHibernatingClient({ socket, state, after, hub, sessions, onSent, onUnconfirmedChange })
    clients.set(client.id, client)
    return { client, gap }
  }
  const removeClient = (id: string): void => {
    clients.get(id)?.[Symbol.dispose]()
    clients.delete(id)
  }
  const checkSessions = async (): Promise<void> => {
    await Promise.all([...clients.values()].map(client => client.checkSession()))
  }

  let nextCheckAt = 0
  let checkTimer: ReturnType<typeof setTimeout> | undefined
  /** Sign-outs and changes of users, roles and keys are commits. A commit after which nobody writes is checked as well. */
  const checkAfterCommit = (): void => {
    if (checkTimer !== undefined || clients.size === 0) return
    const check = (): void => {
      checkTimer = undefined
      nextCheckAt = Date.now() + checkInterval
      void checkSessions()
    }
    checkTimer = setTimeout(check, Math.max(0, nextCheckAt - Date.now()))
  }
  events.onCommit(checkAfterCommit)
  every(checkInterval, () => void checkSessions())

  const reopened = sockets.getWebSockets().flatMap(socket => {
    const state = readClientState(socket)
    if (state) return [{ socket, state }]
    socket.close(1012, 'Connect again with the last cursor.')
    return []
  })
  for (const { socket, state } of reopened.toSorted((a, b) => a.state.connectedAt - b.state.connectedAt)) {
    const { client, gap } = addClient(socket, state)
    if (gap) client.sendGap()
    void client.drain()
  }

  const admitNow = (socket: HibernatingSocket, state: ClientState, unknown: readonly string[], gap: boolean): void => {
    sockets.acceptWebSocket(socket)
    const { client } = addClient(socket, state)
    client.welcome(unknown)
    if (gap) client.sendGap()
    void client.drain()
  }
  const checkMayConnect = (caller: Principal): void => checkLimits([...clients.values()], caller, limits)

  return {
    async admit({ since, types: text, caller, address, credential }) {
      const { types, unknown } = parseEventTypes(text)
      const { cursor, gap } = since === undefined ? { cursor: events.head(), gap: false } : events.resolveCursor(since)
      checkMayConnect(caller)
      const session = await sessions.refer(credential)
      return handshake => {
        try {
          // Others may have connected since the first check.
          checkMayConnect(caller)
        } catch (error) {
          return handshake.refuse(503, messageOf(error))
        }
        const now = Date.now()
        const state: ClientState = {
          id: crypto.randomUUID(),
          userId: caller.id,
          address,
          session,
          connectedAt: now,
          heardAt: now,
          types: [...new Set<EventType>([...types, 'global'])],
          cursor: formatCursor(cursor),
          unconfirmed: 0,
          confirmed: cursor.seq,
        }
        admitNow(PairHandshake.of(handshake).socket, state, unknown, gap)
      }
    },
    unsubscribe(id, names, caller) {
      const { client, types } = parseUnsubscription(clients.get(id), { id, names, caller })
      client.unsubscribe(types)
    },
    async clients() {
      // After a sleep, the check is what finds the names of the users again.
      await checkSessions()
      return [...clients.values()].map(client => toClientRecord(client, client.activity()))
    },
    stats: () => countSubscriptions([...clients.values()], { sent, startedAt }),
    onMessage(socket, data) {
      const client = clients.get(readClientState(socket)?.id ?? '')
      const text = typeof data === 'string' ? data : Buffer.from(data).toString('utf8')
      if (text.length > maxMessageLength) client?.close(1009, '')
      else client?.receive(text)
    },
    onClosed(socket) {
      removeClient(readClientState(socket)?.id ?? '')
      // Without an answer to its close frame the client waits for the end of the connection.
      socket.close()
    },
    nextExpiry() {
      // A client that was closed may stay until it answers.
      const open = [...clients.values()].filter(client => client.activity().alive)
      const times = open.flatMap(({ expiresAt }) => expiresAt ?? [])
      return times.length === 0 ? undefined : 1_000 * Math.min(...times)
    },
  }
}
