import type { WebSocket } from 'ws'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { createClient, type EventClient } from './client.ts'
import type { Events } from './events.ts'
import type { Hub } from './hub.ts'
import { type ClientRecord, readTypes, type SubscriptionStats } from './schemas.ts'

interface Request {
  readonly since: string | undefined
  readonly types: string | undefined
  readonly caller: Principal
  readonly address: string
  readonly again: () => Promise<Principal>
}

/** The WebSockets that read events. */
export interface Subscriptions extends AsyncDisposable {
  /** Passes a request to subscribe, and gives what takes the socket. Throws `invalid`, and `unavailable` at the limits. */
  admit(request: Request): (socket: WebSocket) => void
  /** Stops sending a client some types. Throws `invalid`, `forbidden` for somebody else's client, `not-found`. */
  unsubscribe(clientId: string, types: readonly string[], caller: Principal): void
  clients(): readonly ClientRecord[]
  stats(): SubscriptionStats
}

interface Options {
  readonly events: Pick<Events, 'head' | 'place'>
  readonly hub: Hub
  /** Connections of one user, and in all. */
  readonly limits: { readonly user: number; readonly all: number }
}

const beatEvery = 30_000
const checkEvery = 1_000

const duration = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1000)
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`
}

export const createSubscriptions = ({ events, hub, limits }: Options): Subscriptions => {
  const clients = new Map<string, EventClient>()
  const begun = Date.now()
  let sent = 0
  let closing = false

  const checks = setInterval(() => clients.forEach(client => void client.check()), checkEvery)
  const beats = setInterval(() => clients.forEach(client => client.beat()), beatEvery)
  for (const timer of [checks, beats]) timer.unref()

  const refuseAtLimits = (caller: Principal): void => {
    if (closing) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
    const theirs = [...clients.values()].filter(client => client.userId === caller.id).length
    if (theirs >= limits.user)
      throw new ServiceError('unavailable', `You have ${theirs} subscriptions, which is all that one user can have.`)
    if (clients.size >= limits.all)
      throw new ServiceError('unavailable', `There are ${clients.size} subscriptions, which is all that there can be.`)
  }

  return {
    admit({ since, types: text, caller, address, again }) {
      refuseAtLimits(caller)
      const { types, unknown } = readTypes(text)
      const { at, gap } = since === undefined ? { at: events.head(), gap: false } : events.place(since)
      return socket => {
        const client = createClient({
          socket,
          hub,
          after: at,
          gap,
          types,
          unknown,
          caller,
          address,
          again,
          sent: messages => void (sent += messages),
          closed: ({ id }) => void clients.delete(id),
        })
        clients.set(client.id, client)
      }
    },
    unsubscribe(clientId, names, caller) {
      const client = clients.get(clientId)
      if (!client) throw new ServiceError('not-found', `There is no client ${clientId}.`)
      if (client.userId !== caller.id && !caller.superUser)
        throw new ServiceError('forbidden', 'This client is somebody else’s.')
      const { types, unknown } = readTypes(names.join(','))
      if (unknown.length > 0) throw new ServiceError('invalid', `There are no event types ${unknown.join(', ')}.`)
      if (types.includes('global')) throw new ServiceError('invalid', 'Nobody can unsubscribe from global.')
      const missing = types.filter(type => !client.types().has(type))
      if (missing.length > 0) throw new ServiceError('invalid', `The client does not get ${missing.join(', ')}.`)
      client.drop(types)
    },
    clients: () => [...clients.values()].map(client => client.record()),
    stats() {
      const types = [...clients.values()].flatMap(client => [...client.types()])
      return {
        total_clients: clients.size,
        total_subscriptions: types.length,
        type_stats: Object.fromEntries([...Map.groupBy(types, type => type)].map(([type, all]) => [type, all.length])),
        messages_sent: sent,
        start_time: new Date(begun).toISOString(),
        uptime: duration(Date.now() - begun),
      }
    },
    async [Symbol.asyncDispose]() {
      closing = true
      for (const timer of [checks, beats]) clearInterval(timer)
      for (const client of clients.values()) client.close(1001, 'The service is shutting down.')
    },
  }
}
