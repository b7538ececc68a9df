import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Principal } from '#lib/access/principal.ts'
import { createClientMessages, cutReason } from './client-messages.ts'
import type { EncodedMessage } from './frame.ts'
import type { Hub } from './hub.ts'
import type { ClientActivity, AdmittedClient } from './gateway.ts'
import type { EventType } from './event.ts'

/** A WebSocket that reads events. */
export interface EventClient {
  readonly id: string
  activity(): ClientActivity
  setPrincipal(principal: Principal): void
  /** Stops sending events of these types. */
  unsubscribe(types: readonly EventType[]): void
  /** Sends a heartbeat, or ends a connection that did not answer the last ones. */
  ping(): void
  close(code: number, reason: string): void
}

interface Options {
  readonly socket: WebSocket
  /** The connection below the WebSocket. Finished frames are written to it directly. */
  readonly connection: Duplex
  readonly hub: Hub
  readonly admitted: AdmittedClient
  readonly onSent: (messages: number) => void
  readonly onClosed: (client: EventClient) => void
}

/** Bytes that may wait in a connection. A slower client gets the rest later, from the log. */
const maxBufferedBytes = 1 << 20
const batchSize = 64
const pongTimeout = 45_000

/** Serves one WebSocket: sends the events from the client's cursor on, answers its messages and checks that it is alive. */
export const createClient = (options: Options): EventClient => {
  const { socket, connection, hub, admitted, onSent, onClosed } = options
  const { id, after, gap, unknown } = admitted
  const types = new Set<EventType>([...admitted.types, 'global'])
  let { principal } = admitted
  let [lastPing, lastPong] = [0, Date.now()]
  let isBackedUp = false

  const messages = createClientMessages(id)
  const drain = (): void => {
    while (!isBackedUp && socket.readyState === socket.OPEN) {
      const frames = subscription.next(batchSize)
      if (frames === 'gap') {
        socket.send(messages.gap(subscription.cursor()))
        continue
      }
      if (frames.length === 0) return
      // All frames leave in one system call.
      connection.cork()
      for (const { frame } of frames) connection.write(frame)
      connection.uncork()
      onSent(frames.length)
      if (socket.bufferedAmount < maxBufferedBytes) continue
      isBackedUp = true
      // The callback of a ping runs when everything written before it has left this process.
      socket.ping(undefined, undefined, () => {
        isBackedUp = false
        drain()
      })
    }
  }
  /** A slow client misses events that are not in the log. */
  const onBroadcast = ({ frame }: EncodedMessage): void => {
    if (!isBackedUp && socket.readyState === socket.OPEN) connection.write(frame)
  }
  const subscription = hub.subscribe({ after, types, principal: () => principal, onAvailable: drain, onBroadcast })

  let isPaused = false
  /** Stops reading from a client that does not read the answers, so that its messages and pings cannot fill the memory. */
  const pauseWhenBackedUp = (): void => {
    if (isPaused || socket.bufferedAmount < maxBufferedBytes) return
    isPaused = true
    socket.pause()
    connection.once('drain', () => {
      isPaused = false
      socket.resume()
    })
  }
  const client: EventClient = {
    id,
    activity: () => ({
      lastPing,
      lastPong,
      alive: socket.readyState === socket.OPEN,
      queuedBytes: socket.bufferedAmount,
    }),
    setPrincipal: now => void (principal = now),
    unsubscribe: dropped => dropped.forEach(type => types.delete(type)),
    ping() {
      if (Date.now() - lastPong > pongTimeout) return socket.terminate()
      lastPing = Date.now()
      socket.ping()
    },
    close(code, reason) {
      socket.close(code, cutReason(reason))
      setTimeout(() => socket.terminate(), 2_000).unref()
    },
  }
  socket.on('message', (data: Buffer) => {
    const answer = messages.answer(data.toString('utf8'))
    if (answer !== undefined) socket.send(answer)
    pauseWhenBackedUp()
  })
  // The library answers the ping.
  socket.on('ping', pauseWhenBackedUp)
  socket.on('pong', () => void (lastPong = Date.now()))
  socket.on('error', () => socket.terminate())
  socket.once('close', () => {
    subscription[Symbol.dispose]()
    onClosed(client)
  })
  socket.send(messages.welcome(types, subscription.cursor(), unknown))
  if (gap) socket.send(messages.gap(subscription.cursor()))
  drain()
  return client
}
