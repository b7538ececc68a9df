import { randomBytes } from 'node:crypto'
import { messageOf } from '#lib/errors.ts'
import { type EventType, eventTypes } from './event.ts'

/** The messages to one client that are not in the log, as texts. */
export interface ClientMessages {
  /** The first message. `unknown` are names that the client asked for and that are not event types. */
  welcome(types: Iterable<EventType>, cursor: string, unknown: readonly string[]): string
  /** Tells that events before the cursor were removed unread. */
  gap(cursor: string): string
  /** The answer to a message of the client; undefined when it gets none. */
  answer(text: string): string | undefined
}

const newId = (): string => randomBytes(32).toString('hex')

const toLowerCaseText = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')

interface ClientRequest {
  readonly event_type?: unknown
  readonly message?: unknown
  readonly id?: unknown
}

/** Makes the messages to the client of this id. */
export const createClientMessages = (clientId: string): ClientMessages => {
  const format = (type: EventType, message: string, more: { body?: object; ref_id?: string } = {}): string =>
    JSON.stringify({
      id: newId(),
      ...(more.ref_id !== undefined && { ref_id: more.ref_id }),
      event_type: type,
      timestamp: new Date().toISOString(),
      message,
      ...(more.body && { body: more.body }),
      client_id: clientId,
    })
  return {
    welcome: (types, cursor, unknown) =>
      format('global', 'WebSocket connection established subscribed to global by default', {
        body: {
          client_id: clientId,
          subscriptions: [...types],
          cursor,
          ...(unknown.length > 0 && { unknown_event_types: unknown }),
        },
      }),
    gap: cursor => format('global', 'gap', { body: { cursor } }),
    answer(text) {
      let request: ClientRequest
      try {
        request = Object(JSON.parse(text))
      } catch (error) {
        return format('global', 'error', { body: { error: messageOf(error) } })
      }
      const requestId = typeof request.id === 'string' ? request.id : undefined
      const type = toLowerCaseText(request.event_type)
      const message = toLowerCaseText(request.message)
      if (type === 'health')
        return message === 'ping' ? format('health', 'pong', { ref_id: requestId ?? newId() }) : undefined
      if (type === 'system')
        return message === 'client-id' ? format('system', 'client-id', { body: { 'client-id': clientId } }) : undefined
      const isKnown = eventTypes.some(known => known === type)
      const error = isKnown ? `no handlers registered for type ${type}` : `invalid message type ${type}`
      return format('global', 'error', {
        body: { error },
        ...(isKnown && requestId !== undefined && { ref_id: requestId }),
      })
    },
  }
}

/** Cuts the reason of a close frame, which holds 123 bytes. */
export const cutReason = (reason: string): string =>
  Buffer.from(reason)
    .subarray(0, 120)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
