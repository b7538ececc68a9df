import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { EventType } from './event.ts'
import type { ClientActivity } from './gateway.ts'
import { type ClientRecord, parseEventTypes, type SubscriptionStats } from './schemas.ts'

/** Who is connected over a WebSocket, and what they receive. */
export interface Subscriber {
  readonly id: string
  readonly connectedAt: number
  readonly address: string
  readonly types: ReadonlySet<EventType>
  readonly user: Pick<Principal, 'id' | 'username'>
}

/** The most connections of one user, and in all. */
export interface SubscriberLimits {
  readonly user: number
  readonly all: number
}

/** Throws `unavailable` when the caller, or all users together, have as many connections as they can have. */
export const checkLimits = (
  subscribers: readonly Subscriber[],
  caller: Pick<Principal, 'id'>,
  limits: SubscriberLimits,
): void => {
  const ownCount = subscribers.filter(({ user }) => user.id === caller.id).length
  if (ownCount >= limits.user)
    throw new ServiceError('unavailable', `You have ${ownCount} subscriptions, which is all that one user can have.`)
  if (subscribers.length >= limits.all)
    throw new ServiceError(
      'unavailable',
      `There are ${subscribers.length} subscriptions, which is all that there can be.`,
    )
}

/**
 * Reads the types that a subscriber shall not receive any more. Throws `invalid`, `not-found` for a client that is not
 * connected, and `forbidden` for somebody else's.
 */
export const parseUnsubscription = <Client extends Subscriber>(
  client: Client | undefined,
  { id, names, caller }: { readonly id: string; readonly names: readonly string[]; readonly caller: Principal },
): { readonly client: Client; readonly types: readonly EventType[] } => {
  if (!client) throw new ServiceError('not-found', `There is no client ${id}.`)
  if (client.user.id !== caller.id && !caller.superUser)
    throw new ServiceError('forbidden', 'This client belongs to another user.')
  const { types, unknown } = parseEventTypes(names.join(','))
  if (unknown.length > 0) throw new ServiceError('invalid', `There are no event types ${unknown.join(', ')}.`)
  if (types.includes('global')) throw new ServiceError('invalid', 'A client cannot unsubscribe from global.')
  const missing = types.filter(type => !client.types.has(type))
  if (missing.length > 0) throw new ServiceError('invalid', `The client does not get ${missing.join(', ')}.`)
  return { client, types }
}

const formatTime = (at: number): string => new Date(at).toISOString()

/** The record of a connected client, with the state of its connection where that is known. */
export const toClientRecord = (
  { id, user, address, connectedAt, types }: Subscriber,
  state: ClientActivity | undefined,
): ClientRecord => ({
  id,
  user_id: user.id,
  username: user.username,
  address,
  connected_at: formatTime(connectedAt),
  ...(state && state.lastPing > 0 && { last_ping_at: formatTime(state.lastPing) }),
  ...(state && { last_pong_at: formatTime(state.lastPong) }),
  event_subscriptions: [...types],
  is_alive: state?.alive ?? false,
  queue_depth: state?.queuedBytes ?? 0,
})

const formatDuration = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1000)
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`
}

/** Counts what the present subscribers receive. */
export const countSubscriptions = (
  subscribers: readonly Subscriber[],
  { sent, startedAt }: { readonly sent: number; readonly startedAt: number },
): SubscriptionStats => {
  const types = subscribers.flatMap(subscriber => [...subscriber.types])
  return {
    total_clients: subscribers.length,
    total_subscriptions: types.length,
    type_stats: Object.fromEntries([...Map.groupBy(types, type => type)].map(([type, group]) => [type, group.length])),
    messages_sent: sent,
    start_time: formatTime(startedAt),
    uptime: formatDuration(Date.now() - startedAt),
  }
}
