import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Companion } from '#lib/platform/processes.ts'
import type { OwnProgram } from '#lib/platform/program-parts.ts'
import { supervise } from '#lib/platform/supervised.ts'
import { SocketHandshake } from '#lib/platform/web-sockets.ts'
import type { LogAccess } from '#lib/storage/database.ts'
import type { Events } from './events.ts'
import type { StoredEvent } from './event.ts'
import type { ClientActivity, AdmittedClient, EventGateway } from './gateway.ts'
import { encodeClient, clientHeader, type ServiceMessage, type EventsProcessMessage } from './process-protocol.ts'

interface Options {
  /** The program of the events process. */
  readonly program: OwnProgram
  /** The path of the Unix socket that the events process listens on. */
  readonly socket: string
  readonly events: Pick<Events, 'head' | 'onCommit'>
  readonly reading: LogAccess
  readonly log: Logger
}

/** Milliseconds that a client waits for the events process to start. */
const startTimeout = 3_000

/** Milliseconds without a message after which the events process is killed. It reports every second. */
const maxSilence = 10_000
const silenceCheckInterval = 2_000
const replyTimeout = 2_000

const unavailableMessage = 'Events are not served just now; try again in a moment.'

/** The upgrade request to the events process. It has only those of the client's headers that the handshake needs. */
const formatRequest = (headers: IncomingHttpHeaders, client: AdmittedClient): string =>
  [
    'GET / HTTP/1.1',
    'Host: events',
    'Connection: Upgrade',
    'Upgrade: websocket',
    ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'].flatMap(name =>
      headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
    ),
    `${clientHeader}: ${encodeClient(client)}`,
    '\r\n',
  ].join('\r\n')

/** Forwards a connection's bytes. The socket itself cannot be handed over, because its TLS session is in this process. */
const forwardConnection = (path: string, handshake: SocketHandshake, client: AdmittedClient): void => {
  const { incoming, socket, head } = handshake
  const upstream = connect(path)
  let connected = false
  upstream.once('connect', () => {
    connected = true
    upstream.write(formatRequest(incoming.headers, client))
    upstream.write(head)
    upstream.pipe(socket).pipe(upstream)
  })
  upstream.once('error', () => connected || handshake.refuse(503, unavailableMessage))
  upstream.once('close', () => connected && socket.destroy())
  socket.once('close', () => upstream.destroy())
}

/** A gateway whose clients have a hub in another process. */
export interface OutOfProcessGateway extends EventGateway {
  /** Sends an event to the present clients without storing it in the log. */
  broadcast(event: StoredEvent): void
}

/**
 * A gateway that serves WebSockets in a child process, which reads the event log by itself. This process terminates TLS and
 * forwards the bytes. When the child process dies its connections end, and clients reconnect with their cursors.
 */
export const createOutOfProcessGateway = ({
  program,
  socket: path,
  events,
  reading,
  log,
}: Options): OutOfProcessGateway => {
  let childProcess: Companion | undefined
  let lastMessageAt = Date.now()
  let sentBefore = 0
  let sentNow = 0
  let activityRequests: ((clients: ReadonlyMap<string, ClientActivity>) => void)[] = []

  const send = (message: ServiceMessage): void => childProcess?.send(message)
  const resolveActivity = (clients: ReadonlyMap<string, ClientActivity>): void => {
    for (const resolve of activityRequests) resolve(clients)
    activityRequests = []
  }
  const supervised = supervise({
    program,
    ready(started) {
      const { promise, resolve } = Promise.withResolvers<void>()
      childProcess = started
      lastMessageAt = Date.now()
      started.onMessage(message => {
        // The program at the other end is of this build.
        const received = message as EventsProcessMessage
        lastMessageAt = Date.now()
        if (received.report === 'ready') resolve()
        else if (received.report === 'sent') sentNow = received.count
        else resolveActivity(received.clients)
      })
      send({ do: 'start', ...reading, epoch: events.head().epoch, socket: path })
      return promise
    },
    ended(why) {
      childProcess = undefined
      sentBefore += sentNow
      sentNow = 0
      resolveActivity(new Map())
      log.warning('The events process is started again: {why}', { why })
    },
    end: () => send({ do: 'end' }),
  })

  const rejectWhenLate = async (): Promise<never> => {
    await wait(startTimeout, undefined, { ref: false })
    throw new Error('it is not ready')
  }

  const silenceTimer = setInterval(() => {
    if (Date.now() - lastMessageAt > maxSilence) childProcess?.kill()
  }, silenceCheckInterval)
  silenceTimer.unref()

  let isRefreshScheduled = false
  const commitListener = events.onCommit(() => {
    if (isRefreshScheduled || !childProcess) return
    isRefreshScheduled = true
    // One message covers all commits of this turn of the event loop.
    setImmediate(() => {
      isRefreshScheduled = false
      send({ do: 'refresh' })
    })
  })

  return {
    async ready() {
      try {
        await Promise.race([supervised.running(), rejectWhenLate()])
      } catch (error) {
        throw new ServiceError('unavailable', unavailableMessage, { cause: error, headers: { 'Retry-After': '1' } })
      }
    },
    accept: (handshake, client) => forwardConnection(path, SocketHandshake.of(handshake), client),
    setPrincipal: (id, principal) => send({ do: 'set principal', id, principal }),
    unsubscribe: (id, types) => send({ do: 'unsubscribe', id, types }),
    close: (id, code, reason) => send({ do: 'close', id, code, reason }),
    broadcast: event => send({ do: 'broadcast', event }),
    activity() {
      if (!childProcess) return Promise.resolve(new Map())
      send({ do: 'report activity' })
      const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, ClientActivity>>()
      activityRequests.push(resolve)
      setTimeout(() => resolve(new Map()), replyTimeout).unref()
      return promise
    },
    sent: () => sentBefore + sentNow,
    async [Symbol.asyncDispose]() {
      clearInterval(silenceTimer)
      commitListener[Symbol.dispose]()
      await supervised[Symbol.asyncDispose]()
      resolveActivity(new Map())
    },
  }
}
