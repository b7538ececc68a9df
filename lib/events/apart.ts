import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import type { Log } from '#lib/platform/log.ts'
import type { Companion } from '#lib/platform/processes.ts'
import { supervise } from '#lib/platform/supervised.ts'
import type { Handshake } from '#lib/http/upgrade.ts'
import { refuseUpgrade } from '#lib/platform/web-sockets.ts'
import type { Reading } from '#lib/storage/database.ts'
import type { Events } from './events.ts'
import type { StoredEvent } from './event.ts'
import type { Activity, Admitted, Readers } from './readers.ts'
import { admittedText, clientHeader, type Down, type Up } from './wire.ts'

interface Options {
  /** The program of the events process. */
  readonly program: string
  /** Where it is to listen. */
  readonly socket: string
  readonly events: Pick<Events, 'head' | 'onCommit'>
  readonly reading: Reading
  readonly log: Log
}

/** Milliseconds that a client waits for the process to start. */
const patience = 3_000

/** Milliseconds that the process may be silent, which tells every second that it is there. */
const longestSilence = 10_000
const silenceEvery = 2_000
const answerWithin = 2_000

const away = 'Events are not served just now; try again in a moment.'

/** The request that a connection makes of the process: what the handshake needs of the client's, and nothing else. */
const requestText = (headers: IncomingHttpHeaders, client: Admitted): string =>
  [
    'GET / HTTP/1.1',
    'Host: events',
    'Connection: Upgrade',
    'Upgrade: websocket',
    ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'].flatMap(name =>
      headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
    ),
    `${clientHeader}: ${admittedText(client)}`,
    '\r\n',
  ].join('\r\n')

/** Hands a connection through: it cannot be given away, for this process has the keys of its TLS. */
const connectThrough = (path: string, { incoming, socket, head }: Handshake, client: Admitted): void => {
  const upstream = connect(path)
  let connected = false
  upstream.once('connect', () => {
    connected = true
    upstream.write(requestText(incoming.headers, client))
    upstream.write(head)
    upstream.pipe(socket).pipe(upstream)
  })
  upstream.once('error', () => connected || refuseUpgrade(socket, 503, away))
  upstream.once('close', () => connected && socket.destroy())
  socket.once('close', () => upstream.destroy())
}

/** Readers that have no hub of this process. */
export interface ReadersApart extends Readers {
  /** Hands on an event of the moment. */
  pass(event: StoredEvent): void
}

/**
 * Serves WebSockets in a process of their own, which reads the log beside this one. Connections are handed through: this
 * process has ended their TLS. When the process dies they end, and clients come back with their cursors.
 */
export const createReadersApart = ({ program, socket: path, events, reading, log }: Options): ReadersApart => {
  let companion: Companion | undefined
  let heard = Date.now()
  let sentBefore = 0
  let sentNow = 0
  let asked: ((clients: ReadonlyMap<string, Activity>) => void)[] = []

  const write = (message: Down): void => companion?.send(message)
  const answer = (clients: ReadonlyMap<string, Activity>): void => {
    for (const tell of asked) tell(clients)
    asked = []
  }
  const supervised = supervise({
    program,
    ready(started) {
      const { promise, resolve } = Promise.withResolvers<void>()
      companion = started
      heard = Date.now()
      started.onMessage(message => {
        const said = message as Up
        heard = Date.now()
        if (said.said === 'ready') resolve()
        else if (said.said === 'sent') sentNow = said.count
        else answer(said.clients)
      })
      write({ do: 'begin', ...reading, epoch: events.head().epoch, socket: path })
      return promise
    },
    ended(why) {
      companion = undefined
      sentBefore += sentNow
      sentNow = 0
      answer(new Map())
      log.warning('The events process is started again: {why}', { why })
    },
    end: () => write({ do: 'end' }),
  })

  const late = async (): Promise<never> => {
    await wait(patience, undefined, { ref: false })
    throw new Error('it is not ready')
  }

  const listening = setInterval(() => {
    if (Date.now() - heard > longestSilence) companion?.kill()
  }, silenceEvery)
  listening.unref()

  let told = false
  const watching = events.onCommit(() => {
    if (told || !companion) return
    told = true
    // All commits of a moment are told of at once.
    setImmediate(() => {
      told = false
      write({ do: 'look' })
    })
  })

  return {
    async ready() {
      try {
        await Promise.race([supervised.running(), late()])
      } catch (error) {
        throw new ServiceError('unavailable', away, { cause: error, headers: { 'Retry-After': '1' } })
      }
    },
    take: (handshake, client) => connectThrough(path, handshake, client),
    setPrincipal: (id, principal) => write({ do: 'principal', id, principal }),
    drop: (id, types) => write({ do: 'drop', id, types }),
    close: (id, code, reason) => write({ do: 'close', id, code, reason }),
    pass: event => write({ do: 'pass', event }),
    activity() {
      if (!companion) return Promise.resolve(new Map())
      write({ do: 'tell activity' })
      const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, Activity>>()
      asked.push(resolve)
      setTimeout(() => resolve(new Map()), answerWithin).unref()
      return promise
    },
    sent: () => sentBefore + sentNow,
    async [Symbol.asyncDispose]() {
      clearInterval(listening)
      watching[Symbol.dispose]()
      await supervised[Symbol.asyncDispose]()
      answer(new Map())
    },
  }
}
