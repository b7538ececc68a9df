import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
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
import type { Activity, Readers } from './readers.ts'
import { admittedText, type Beginning, clientHeader, type Down, principalText, type Up } from './wire.ts'

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

const away = 'Events are not served just now; try again in a moment.'

/** The request that a connection makes of the events process: what the handshake needs, and nothing else of the client's. */
const requestText = ({ incoming: { headers } }: Handshake, admitted: string): string =>
  [
    'GET / HTTP/1.1',
    'Host: events',
    'Connection: Upgrade',
    'Upgrade: websocket',
    ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'].flatMap(name =>
      headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
    ),
    `${clientHeader}: ${admitted}`,
    '\r\n',
  ].join('\r\n')

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
  let sentBefore = 0
  let sentNow = 0
  let asked: ((clients: ReadonlyMap<string, Activity>) => void)[] = []

  const write = (line: Down | Beginning): void => void companion?.input.write(`${JSON.stringify(line)}\n`)
  const answer = (clients: ReadonlyMap<string, Activity>): void => {
    for (const tell of asked) tell(clients)
    asked = []
  }
  const supervised = supervise({
    program: process.execPath,
    args: [program],
    ready(started) {
      const { promise, resolve } = Promise.withResolvers<void>()
      companion = started
      createInterface({ input: started.output }).on('line', text => {
        const said = JSON.parse(text) as Up
        if (said.said === 'ready') resolve()
        else if (said.said === 'sent') sentNow = said.count
        else answer(new Map(said.clients))
      })
      const { file, dataKey } = reading
      const { epoch } = events.head()
      write({ file, epoch, socket: path, ...(dataKey && { dataKey: Buffer.from(dataKey).toString('base64') }) })
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
    take(handshake, client) {
      const { socket, head } = handshake
      const upstream = connect(path)
      let connected = false
      upstream.once('connect', () => {
        connected = true
        upstream.write(requestText(handshake, admittedText(client)))
        upstream.write(head)
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.once('error', () => connected || refuseUpgrade(socket, 503, away))
      upstream.once('close', () => connected && socket.destroy())
      socket.once('close', () => upstream.destroy())
    },
    setPrincipal: (id, principal) => write({ do: 'principal', id, principal: principalText(principal) }),
    drop: (id, types) => write({ do: 'drop', id, types }),
    close: (id, code, reason) => write({ do: 'close', id, code, reason }),
    pass: event => write({ do: 'pass', event }),
    activity() {
      if (!companion) return Promise.resolve(new Map())
      write({ do: 'tell activity' })
      return new Promise(resolve => asked.push(resolve))
    },
    sent: () => sentBefore + sentNow,
    async [Symbol.asyncDispose]() {
      watching[Symbol.dispose]()
      await supervised[Symbol.asyncDispose]()
      answer(new Map())
      rmSync(path, { force: true })
    },
  }
}
