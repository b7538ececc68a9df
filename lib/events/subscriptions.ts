import type { Principal } from '#lib/auth/principal.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Handshake } from '#lib/http/upgrade.ts'
import { refuseUpgrade } from '#lib/platform/web-sockets.ts'
import type { EventType } from './event.ts'
import type { Events } from './events.ts'
import type { Readers } from './readers.ts'
import { type ClientRecord, readTypes, type SubscriptionStats } from './schemas.ts'

interface Request {
  readonly since: string | undefined
  readonly types: string | undefined
  readonly caller: Principal
  readonly address: string
  readonly again: () => Promise<Principal>
}

/** The WebSockets that read events: who may, and for how long. What they are sent is the readers' business. */
export interface Subscriptions extends AsyncDisposable {
  /** Passes a request to subscribe, and gives what takes the connection. Throws `invalid`, and `unavailable` at the limits. */
  admit(request: Request): Promise<(handshake: Handshake) => void>
  /** Stops sending a client some types. Throws `invalid`, `forbidden` for somebody else's client, `not-found`. */
  unsubscribe(clientId: string, types: readonly string[], caller: Principal): void
  clients(): Promise<readonly ClientRecord[]>
  stats(): SubscriptionStats
}

interface Options {
  readonly events: Pick<Events, 'head' | 'place'>
  readonly readers: Readers
  /** Connections of one user, and in all. */
  readonly limits: { readonly user: number; readonly all: number }
}

interface Client {
  readonly id: string
  readonly connectedAt: number
  readonly address: string
  readonly types: Set<EventType>
  readonly again: () => Promise<Principal>
  principal: Principal
}

const checkEvery = 1_000

const duration = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1000)
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`
}

const seesTheSame = (a: Principal, b: Principal): boolean =>
  a.superUser === b.superUser &&
  (a.claims === b.claims || (a.claims.size === b.claims.size && a.claims.isSubsetOf(b.claims)))

const time = (at: number): string => new Date(at).toISOString()

export const createSubscriptions = ({ events, readers, limits }: Options): Subscriptions => {
  const clients = new Map<string, Client>()
  const begun = Date.now()
  let closing = false

  const check = async (client: Client): Promise<void> => {
    try {
      const now = await client.again()
      if (!seesTheSame(now, client.principal)) readers.setPrincipal(client.id, now)
      client.principal = now
    } catch (error) {
      readers.close(client.id, 1008, messageOf(error))
    }
  }
  const checks = setInterval(() => clients.forEach(client => void check(client)), checkEvery)
  checks.unref()

  const refuseAtLimits = (caller: Principal): void => {
    if (closing) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
    const theirs = [...clients.values()].filter(({ principal }) => principal.id === caller.id).length
    if (theirs >= limits.user)
      throw new ServiceError('unavailable', `You have ${theirs} subscriptions, which is all that one user can have.`)
    if (clients.size >= limits.all)
      throw new ServiceError('unavailable', `There are ${clients.size} subscriptions, which is all that there can be.`)
  }

  return {
    async admit({ since, types: text, caller, address, again }) {
      const { types, unknown } = readTypes(text)
      const { at, gap } = since === undefined ? { at: events.head(), gap: false } : events.place(since)
      refuseAtLimits(caller)
      await readers.ready()
      return handshake => {
        if (handshake.socket.destroyed) return
        try {
          // Others may have come meanwhile.
          refuseAtLimits(caller)
        } catch (error) {
          return refuseUpgrade(handshake.socket, 503, messageOf(error))
        }
        const id = crypto.randomUUID()
        clients.set(id, {
          id,
          connectedAt: Date.now(),
          address,
          types: new Set<EventType>([...types, 'global']),
          again,
          principal: caller,
        })
        handshake.socket.once('close', () => clients.delete(id))
        readers.take(handshake, { id, after: at, gap, types, unknown, principal: caller })
      }
    },
    unsubscribe(clientId, names, caller) {
      const client = clients.get(clientId)
      if (!client) throw new ServiceError('not-found', `There is no client ${clientId}.`)
      if (client.principal.id !== caller.id && !caller.superUser)
        throw new ServiceError('forbidden', 'This client is somebody else’s.')
      const { types, unknown } = readTypes(names.join(','))
      if (unknown.length > 0) throw new ServiceError('invalid', `There are no event types ${unknown.join(', ')}.`)
      if (types.includes('global')) throw new ServiceError('invalid', 'Nobody can unsubscribe from global.')
      const missing = types.filter(type => !client.types.has(type))
      if (missing.length > 0) throw new ServiceError('invalid', `The client does not get ${missing.join(', ')}.`)
      readers.drop(clientId, types)
      for (const type of types) client.types.delete(type)
    },
    async clients() {
      const activity = await readers.activity()
      return [...clients.values()].map(({ id, principal, address, connectedAt, types }) => {
        const seen = activity.get(id)
        return {
          id,
          user_id: principal.id,
          username: principal.username,
          address,
          connected_at: time(connectedAt),
          ...(seen && seen.lastPing > 0 && { last_ping_at: time(seen.lastPing) }),
          ...(seen && { last_pong_at: time(seen.lastPong) }),
          event_subscriptions: [...types],
          is_alive: seen?.alive ?? false,
          queue_depth: seen?.waiting ?? 0,
        }
      })
    },
    stats() {
      const types = [...clients.values()].flatMap(client => [...client.types])
      return {
        total_clients: clients.size,
        total_subscriptions: types.length,
        type_stats: Object.fromEntries([...Map.groupBy(types, type => type)].map(([type, all]) => [type, all.length])),
        messages_sent: readers.sent(),
        start_time: time(begun),
        uptime: duration(Date.now() - begun),
      }
    },
    async [Symbol.asyncDispose]() {
      closing = true
      clearInterval(checks)
      await readers[Symbol.asyncDispose]()
    },
  }
}
