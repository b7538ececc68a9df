import type { Credential } from '#lib/access/credential.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Handshake } from '#lib/calls/upgrade.ts'
import type { EventType } from './event.ts'
import type { Events } from './events.ts'
import type { EventGateway } from './gateway.ts'
import { type ClientRecord, parseEventTypes, type SubscriptionStats } from './schemas.ts'
import {
  checkLimits,
  countSubscriptions,
  parseUnsubscription,
  type Subscriber,
  type SubscriberLimits,
  toClientRecord,
} from './subscribers.ts'

export interface SubscribeRequest {
  readonly since: string | undefined
  readonly types: string | undefined
  readonly caller: Principal
  readonly address: string
  readonly credential: Credential
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
  readonly limits: SubscriberLimits
}

interface Client extends Subscriber {
  readonly types: Set<EventType>
  readonly reauthenticate: () => Promise<Principal>
  user: Principal
}

const reauthenticateInterval = 1_000

const hasSameAccess = (a: Principal, b: Principal): boolean =>
  a.superUser === b.superUser &&
  (a.claims === b.claims || (a.claims.size === b.claims.size && a.claims.isSubsetOf(b.claims)))

export const createSubscriptions = ({ events, gateway, every, limits }: Options): Subscriptions => {
  const clients = new Map<string, Client>()
  const startedAt = Date.now()
  let closing = false

  const reauthenticateClient = async (client: Client): Promise<void> => {
    try {
      const now = await client.reauthenticate()
      if (!hasSameAccess(now, client.user)) gateway.setPrincipal(client.id, now)
      client.user = now
    } catch (error) {
      gateway.close(client.id, 1008, messageOf(error))
    }
  }
  const reauthenticateTimer = every(reauthenticateInterval, () =>
    clients.forEach(client => void reauthenticateClient(client)),
  )

  const checkMayConnect = (caller: Principal): void => {
    if (closing) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
    checkLimits([...clients.values()], caller, limits)
  }

  return {
    async admit({ since, types: text, caller, address, reauthenticate }) {
      const { types, unknown } = parseEventTypes(text)
      const { cursor, gap } = since === undefined ? { cursor: events.head(), gap: false } : events.resolveCursor(since)
      checkMayConnect(caller)
      await gateway.ready()
      return handshake => {
        if (handshake.isGone()) return
        try {
          // Others may have connected since the first check.
          checkMayConnect(caller)
        } catch (error) {
          return handshake.refuse(503, messageOf(error))
        }
        const id = crypto.randomUUID()
        clients.set(id, {
          id,
          connectedAt: Date.now(),
          address,
          types: new Set<EventType>([...types, 'global']),
          reauthenticate,
          user: caller,
        })
        handshake.onClosed(() => clients.delete(id))
        gateway.accept(handshake, { id, after: cursor, gap, types, unknown, principal: caller })
      }
    },
    unsubscribe(id, names, caller) {
      const { client, types } = parseUnsubscription(clients.get(id), { id, names, caller })
      gateway.unsubscribe(id, types)
      for (const type of types) client.types.delete(type)
    },
    async clients() {
      const activity = await gateway.activity()
      return [...clients.values()].map(client => toClientRecord(client, activity.get(client.id)))
    },
    stats: () => countSubscriptions([...clients.values()], { sent: gateway.sent(), startedAt }),
    async [Symbol.asyncDispose]() {
      closing = true
      reauthenticateTimer[Symbol.dispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}
