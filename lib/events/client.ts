import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Principal } from '#lib/auth/principal.ts'
import type { Framed } from './frame.ts'
import type { Hub } from './hub.ts'
import type { Activity, Admitted } from './readers.ts'
import { type EventType, eventTypes } from './event.ts'

/** A WebSocket that reads events. */
export interface EventClient {
  readonly id: string
  activity(): Activity
  setPrincipal(principal: Principal): void
  /** Stops sending events of these types. */
  drop(types: readonly EventType[]): void
  /** Sends a heartbeat, or ends a connection that did not answer the last ones. */
  beat(): void
  close(code: number, reason: string): void
}

interface Options {
  readonly socket: WebSocket
  /** The connection below the WebSocket: what is ready is written there. */
  readonly connection: Duplex
  readonly hub: Hub
  readonly admitted: Admitted
  readonly sent: (messages: number) => void
  readonly closed: (client: EventClient) => void
}

/** Bytes that may wait in a connection: who reads more slowly than that is read for later, from the log. */
const bound = 1 << 20
const portion = 64
const pongWithin = 45_000

const textOf = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')

export const createClient = (options: Options): EventClient => {
  const { socket, connection, hub, admitted, sent, closed } = options
  const { id, after, gap, unknown } = admitted
  const types = new Set<EventType>([...admitted.types, 'global'])
  let { principal } = admitted
  let [lastPing, lastPong] = [0, Date.now()]
  let waiting = false

  /** What is for this client alone has no place in the log. */
  const tell = (type: EventType, message: string, more: { body?: object; ref_id?: string } = {}): void =>
    socket.send(
      JSON.stringify({
        id: randomBytes(32).toString('hex'),
        ...(more.ref_id !== undefined && { ref_id: more.ref_id }),
        event_type: type,
        timestamp: new Date().toISOString(),
        message,
        ...(more.body && { body: more.body }),
        client_id: id,
      }),
    )
  const pump = (): void => {
    while (!waiting && socket.readyState === socket.OPEN) {
      const frames = subscription.next(portion)
      if (frames === 'gap') {
        tell('global', 'gap', { body: { cursor: subscription.cursor() } })
        continue
      }
      if (frames.length === 0) return
      // In one write to the system.
      connection.cork()
      for (const { frame } of frames) connection.write(frame)
      connection.uncork()
      sent(frames.length)
      if (socket.bufferedAmount < bound) continue
      waiting = true
      // An empty frame's callback runs when all before it has left this process.
      socket.ping(undefined, undefined, () => {
        waiting = false
        pump()
      })
    }
  }
  /** Who reads slowly misses what was of the moment. */
  const pass = ({ frame }: Framed): void => {
    if (!waiting && socket.readyState === socket.OPEN) connection.write(frame)
  }
  const subscription = hub.subscribe({ after, types, principal: () => principal, wake: pump, pass })

  let held = false
  /** Who does not read the answers is not heard any further: neither asking nor pinging fills the memory. */
  const hold = (): void => {
    if (held || socket.bufferedAmount < bound) return
    held = true
    socket.pause()
    connection.once('drain', () => {
      held = false
      socket.resume()
    })
  }
  const answer = (text: string): void => {
    let said: { event_type?: unknown; message?: unknown; id?: unknown }
    try {
      said = Object(JSON.parse(text))
    } catch (error) {
      return tell('global', 'error', { body: { error: (error as Error).message } })
    }
    const reference = typeof said.id === 'string' ? said.id : undefined
    const type = textOf(said.event_type)
    const message = textOf(said.message)
    if (type === 'health') {
      if (message === 'ping') tell('health', 'pong', { ref_id: reference ?? randomBytes(32).toString('hex') })
    } else if (type === 'system') {
      if (message === 'client-id') tell('system', 'client-id', { body: { 'client-id': id } })
    } else {
      const known = (eventTypes as readonly string[]).includes(type)
      const error = known ? `no handlers registered for type ${type}` : `invalid message type ${type}`
      tell('global', 'error', { body: { error }, ...(known && reference !== undefined && { ref_id: reference }) })
    }
  }

  const client: EventClient = {
    id,
    activity: () => ({
      lastPing,
      lastPong,
      alive: socket.readyState === socket.OPEN,
      waiting: socket.bufferedAmount,
    }),
    setPrincipal: now => void (principal = now),
    drop: dropped => dropped.forEach(type => types.delete(type)),
    beat() {
      if (Date.now() - lastPong > pongWithin) return socket.terminate()
      lastPing = Date.now()
      socket.ping()
    },
    close(code, reason) {
      // A close frame holds 123 bytes of reason.
      socket.close(
        code,
        Buffer.from(reason)
          .subarray(0, 120)
          .toString('utf8')
          .replace(/\uFFFD$/, ''),
      )
      setTimeout(() => socket.terminate(), 2_000).unref()
    },
  }
  socket.on('message', (data: Buffer) => {
    answer(data.toString('utf8'))
    hold()
  })
  // Answered by the library.
  socket.on('ping', hold)
  socket.on('pong', () => void (lastPong = Date.now()))
  socket.on('error', () => socket.terminate())
  socket.once('close', () => {
    subscription[Symbol.dispose]()
    closed(client)
  })
  tell('global', 'WebSocket connection established subscribed to global by default', {
    body: {
      client_id: id,
      subscriptions: [...types],
      cursor: subscription.cursor(),
      ...(unknown.length > 0 && { unknown_event_types: unknown }),
    },
  })
  if (gap) tell('global', 'gap', { body: { cursor: subscription.cursor() } })
  pump()
  return client
}
