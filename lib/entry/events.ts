/**
 * The events process: serves WebSockets that read the event log, beside the service. It is started by the service, reads
 * the store by itself, and ends with it.
 */
import { createServer } from 'node:http'
import { createEventClients } from '#lib/events/clients.ts'
import { createEventLogReader } from '#lib/events/log-reader.ts'
import { createHub } from '#lib/events/hub.ts'
import {
  clientHeader,
  type ServiceMessage,
  decodeClient,
  type EventsProcessMessage,
} from '#lib/events/process-protocol.ts'
import { listenPrivately } from '#lib/platform/local-socket.ts'
import { createHandshakes } from '#lib/platform/web-sockets.ts'
import { openLogReader } from '#lib/storage/database.ts'

/** A principal may hold thousands of claims. */
const maxHeaderSize = 1 << 20
// A commit wakes the process; this is for one that was missed.
const lookEvery = 250
const tellEvery = 1_000
const closeTime = 1_000

// Without a listener Node opens its debugger at this signal, and through that everybody on the host could run code here.
process.on('SIGUSR1', () => {})

const say = (what: EventsProcessMessage): void => void process.send?.(what)

type Beginning = Extract<ServiceMessage, { do: 'start' }>

const open = async ({ file, dataKey, epoch, socket: path }: Beginning) => {
  const log = createEventLogReader(openLogReader({ file, dataKey }), epoch)
  const hub = createHub(log)
  const clients = createEventClients(hub)
  const complete = createHandshakes()
  const server = createServer({ maxHeaderSize })
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => socket.destroy())
    const admitted = decodeClient(String(incoming.headers[clientHeader]))
    complete({ incoming, socket, head }, opened => clients.open(opened, socket, admitted))
  })
  await listenPrivately(server, path)
  setInterval(log.refresh, lookEvery)
  // Also to be heard of: a process that says nothing is ended.
  setInterval(() => say({ report: 'sent', count: clients.sent() }), tellEvery)

  return {
    clients,
    hub,
    log,
    end(): void {
      clients[Symbol.dispose]()
      server.close()
      setTimeout(() => process.exit(0), closeTime)
      setInterval(() => server.getConnections((_, count) => void (count === 0 && process.exit(0))), 20)
    },
  }
}

let opened: Awaited<ReturnType<typeof open>> | undefined
process.on('message', (message: ServiceMessage) => {
  if (message.do === 'start')
    return void open(message).then(now => {
      opened = now
      say({ report: 'ready' })
    })
  if (!opened) return
  const { clients, hub, log, end } = opened
  if (message.do === 'refresh') log.refresh()
  else if (message.do === 'set principal') clients.setPrincipal(message.id, message.principal)
  else if (message.do === 'unsubscribe') clients.unsubscribe(message.id, message.types)
  else if (message.do === 'close') clients.close(message.id, message.code, message.reason)
  else if (message.do === 'broadcast') hub.broadcast(message.event)
  else if (message.do === 'report activity')
    void clients.activity().then(activity => say({ report: 'activity', clients: activity }))
  else end()
})
// The service is gone, whatever became of it.
process.on('disconnect', () => process.exit(0))
// A signal to the whole group is the service's to answer: it ends this process when its clients have been told.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
