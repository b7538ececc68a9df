import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Handshake } from '#lib/calls/upgrade.ts'
import { refuseUpgrade } from '#lib/platform/web-sockets.ts'
import type { EventType } from './event.ts'
import type { Events } from './events.ts'
import type { EventGateway } from './gateway.ts'
import { type ClientRecord, parseEventTypes, type SubscriptionStats } from './schemas.ts'

interface SubscribeRequest {
  readonly since: string | undefined
  readonly types: string | undefined
  readonly caller: Principal
  readonly address: string
  readonly reauthenticate: () => Promise<Principal>
}

/** Decides who may subscribe to events over a WebSocket, and for how long. The gateway sends the events. */
export interface Subscriptions extends AsyncDisposable {
  /** Checks a request, and gives a function that accepts the connection. Throws `invalid`, and `unavailable` at the limits. */
  admit(request: SubscribeRequest): Promise<(handshake: Handshake) => void>
  /** Stops sending a client some types. Throws `invalid`, `forbidden` for somebody else's client, `not-found`. */
  unsubscribe(clientId: string, types: readonly string[], caller: Principal): void
  /** Lists the connected clients. */
  clients(): Promise<readonly ClientRecord[]>
  /** Counts the present clients, and the messages sent since the start. */
  stats(): SubscriptionStats
}

interface Options {
  readonly events: Pick<Events, 'head' | 'resolveCursor'>
  readonly gateway: EventGateway
  readonly every: Every
  /** The most connections of one user, and in all. */
  readonly limits: { readonly user: number; readonly all: number }
}

interface Subscriber {
  readonly id: string
  readonly connectedAt: number
  readonly address: string
  readonly types: Set<EventType>
  readonly reauthenticate: () => Promise<Principal>
  principal: Principal
}

const reauthenticateInterval = 1_000

const formatDuration = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1000)
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`
}

const hasSameAccess = (a: Principal, b: Principal): boolean =>
  a.superUser === b.superUser &&
  (a.claims === b.claims || (a.claims.size === b.claims.size && a.claims.isSubsetOf(b.claims)))

const formatTime = (at: number): string => new Date(at).toISOString()

export const createSubscriptions = ({ events, gateway, every, limits }: Options): Subscriptions => {
  const clients = new Map<string, Subscriber>()
  const startedAt = Date.now()
  let closing = false

  const reauthenticateClient = async (client: Subscriber): Promise<void> => {
    try {
      const now = await client.reauthenticate()
      if (!hasSameAccess(now, client.principal)) gateway.setPrincipal(client.id, now)
      client.principal = now
    } catch (error) {
      gateway.close(client.id, 1008, messageOf(error))
    }
  }
  const reauthenticateTimer = every(reauthenticateInterval, () =>
    clients.forEach(client => void reauthenticateClient(client)),
  )

  const checkLimits = (caller: Principal): void => {
    if (closing) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
    const ownCount = [...clients.values()].filter(({ principal }) => principal.id === caller.id).length
    if (ownCount >= limits.user)
      throw new ServiceError('unavailable', `You have ${ownCount} subscriptions, which is all that one user can have.`)
    if (clients.size >= limits.all)
      throw new ServiceError('unavailable', `There are ${clients.size} subscriptions, which is all that there can be.`)
  }

  return {
    async admit({ since, types: text, caller, address, reauthenticate }) {
      const { types, unknown } = parseEventTypes(text)
      const { cursor, gap } = since === undefined ? { cursor: events.head(), gap: false } : events.resolveCursor(since)
      checkLimits(caller)
      await gateway.ready()
      return handshake => {
        if (handshake.socket.destroyed) return
        try {
          // Others may have connected since the first check.
          checkLimits(caller)
        } catch (error) {
          return refuseUpgrade(handshake.socket, 503, messageOf(error))
        }
        const id = crypto.randomUUID()
        clients.set(id, {
          id,
          connectedAt: Date.now(),
          address,
          types: new Set<EventType>([...types, 'global']),
          reauthenticate,
          principal: caller,
        })
        handshake.socket.once('close', () => clients.delete(id))
        gateway.accept(handshake, { id, after: cursor, gap, types, unknown, principal: caller })
      }
    },
    unsubscribe(clientId, names, caller) {
      const client = clients.get(clientId)
      if (!client) throw new ServiceError('not-found', `There is no client ${clientId}.`)
      if (client.principal.id !== caller.id && !caller.superUser)
        throw new ServiceError('forbidden', 'This client belongs to another user.')
      const { types, unknown } = parseEventTypes(names.join(','))
      if (unknown.length > 0) throw new ServiceError('invalid', `There are no event types ${unknown.join(', ')}.`)
      if (types.includes('global')) throw new ServiceError('invalid', 'A client cannot unsubscribe from global.')
      const missing = types.filter(type => !client.types.has(type))
      if (missing.length > 0) throw new ServiceError('invalid', `The client does not get ${missing.join(', ')}.`)
      gateway.unsubscribe(clientId, types)
      for (const type of types) client.types.delete(type)
    },
    async clients() {
      const activity = await gateway.activity()
      return [...clients.values()].map(({ id, principal, address, connectedAt, types }) => {
        const state = activity.get(id)
        return {
          id,
          user_id: principal.id,
          username: principal.username,
          address,
          connected_at: formatTime(connectedAt),
          ...(state && state.lastPing > 0 && { last_ping_at: formatTime(state.lastPing) }),
          ...(state && { last_pong_at: formatTime(state.lastPong) }),
          event_subscriptions: [...types],
          is_alive: state?.alive ?? false,
          queue_depth: state?.queuedBytes ?? 0,
        }
      })
    },
    stats() {
      const types = [...clients.values()].flatMap(client => [...client.types])
      return {
        total_clients: clients.size,
        total_subscriptions: types.length,
        type_stats: Object.fromEntries(
          [...Map.groupBy(types, type => type)].map(([type, group]) => [type, group.length]),
        ),
        messages_sent: gateway.sent(),
        start_time: formatTime(startedAt),
        uptime: formatDuration(Date.now() - startedAt),
      }
    },
    async [Symbol.asyncDispose]() {
      closing = true
      reauthenticateTimer[Symbol.dispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}
