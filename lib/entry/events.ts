/**
 * The events process: serves WebSockets that read the event log, so that they cost the service nothing. It is started by
 * the service, reads the store beside it, and ends with it.
 */
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { createClients } from '#lib/events/clients.ts'
import { followEvents } from '#lib/events/follow.ts'
import { createHub } from '#lib/events/hub.ts'
import { type Beginning, clientHeader, type Down, readAdmitted, readPrincipal, type Up } from '#lib/events/wire.ts'
import { listenPrivately } from '#lib/platform/local-socket.ts'
import { createHandshakes } from '#lib/platform/web-sockets.ts'
import { openLogReader } from '#lib/storage/database.ts'

/** A principal may hold thousands of claims. */
const maxHeaderSize = 1 << 20
// A commit wakes the process; this is for one that was missed.
const lookEvery = 250
const tellEvery = 1_000
const closeTime = 1_000

const say = (what: Up): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

const open = async ({ file, dataKey, epoch, socket: path }: Beginning): Promise<(line: Down) => void> => {
  const reader = openLogReader({ file, dataKey: dataKey === undefined ? undefined : Buffer.from(dataKey, 'base64') })
  const log = followEvents(reader, epoch)
  const hub = createHub(log)
  const clients = createClients(hub)
  const complete = createHandshakes()
  const server = createServer({ maxHeaderSize })
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => socket.destroy())
    const admitted = readAdmitted(String(incoming.headers[clientHeader]))
    complete({ incoming, socket, head }, opened => clients.open(opened, admitted))
  })
  await listenPrivately(server, path)
  setInterval(log.look, lookEvery)
  let told = 0
  setInterval(() => {
    const count = clients.sent()
    if (count !== told) say({ said: 'sent', count: (told = count) })
  }, tellEvery)

  const end = (): void => {
    clients[Symbol.dispose]()
    server.close()
    setTimeout(() => process.exit(0), closeTime)
    const empty = (): void => void server.getConnections((_, count) => count === 0 && process.exit(0))
    setInterval(empty, 20)
  }
  return line => {
    if (line.do === 'look') log.look()
    else if (line.do === 'principal') clients.setPrincipal(line.id, readPrincipal(line.principal))
    else if (line.do === 'drop') clients.drop(line.id, line.types)
    else if (line.do === 'close') clients.close(line.id, line.code, line.reason)
    else if (line.do === 'pass') hub.pass(line.event)
    else if (line.do === 'tell activity')
      void clients.activity().then(activity => say({ said: 'activity', clients: [...activity] }))
    else end()
  }
}

// A signal to the whole group is the service's to answer: it ends this process when its clients have been told.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdout.on('error', () => process.exit(0))

let take: ((line: Down) => void) | undefined
for await (const text of createInterface({ input: process.stdin })) {
  if (take) take(JSON.parse(text) as Down)
  else {
    take = await open(JSON.parse(text) as Beginning)
    say({ said: 'ready' })
  }
}
// The service is gone, whatever became of it.
process.exit(0)
