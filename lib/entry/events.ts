/**
 * The events process: serves the WebSockets that read the event log. The service starts it and ends it. The process reads the store
 * itself.
 */
import { createServer } from 'node:http'
import { every } from '#lib/async/every.ts'
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
// The service reports each commit. This is for a report that was lost.
const refreshInterval = 250
const reportInterval = 1_000
const closeTimeout = 1_000

// Without a listener this signal opens the debugger of Node, with which every user of the host could run code in this process.
process.on('SIGUSR1', () => {})

const send = (message: EventsProcessMessage): void => void process.send?.(message)

type StartMessage = Extract<ServiceMessage, { do: 'start' }>

const open = async ({ file, dataKey, epoch, socket: path }: StartMessage) => {
  const log = createEventLogReader(openLogReader({ file, dataKey }), epoch)
  const hub = createHub(log, every)
  const clients = createEventClients(hub)
  const completeHandshake = createHandshakes()
  const server = createServer({ maxHeaderSize })
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => socket.destroy())
    const client = decodeClient(String(incoming.headers[clientHeader]))
    completeHandshake({ incoming, socket, head }, opened => clients.open(opened, socket, client))
  })
  await listenPrivately(server, path)
  setInterval(log.refresh, refreshInterval)
  // This is also the sign of life: the service ends a process that sends nothing.
  setInterval(() => send({ report: 'sent', count: clients.sent() }), reportInterval)

  return {
    clients,
    hub,
    log,
    close(): void {
      clients[Symbol.dispose]()
      server.close()
      setTimeout(() => process.exit(0), closeTimeout)
      setInterval(() => server.getConnections((_, count) => void (count === 0 && process.exit(0))), 20)
    },
  }
}

let opened: Awaited<ReturnType<typeof open>> | undefined
process.on('message', (message: ServiceMessage) => {
  if (message.do === 'start')
    return void open(message).then(now => {
      opened = now
      send({ report: 'ready' })
    })
  if (!opened) return
  const { clients, hub, log, close } = opened
  if (message.do === 'refresh') log.refresh()
  else if (message.do === 'set principal') clients.setPrincipal(message.id, message.principal)
  else if (message.do === 'unsubscribe') clients.unsubscribe(message.id, message.types)
  else if (message.do === 'close') clients.close(message.id, message.code, message.reason)
  else if (message.do === 'broadcast') hub.broadcast(message.event)
  else if (message.do === 'report activity')
    void clients.activity().then(activity => send({ report: 'activity', clients: activity }))
  else close()
})
// The service has ended, in order or by a crash.
process.on('disconnect', () => process.exit(0))
// A signal to the whole process group is for the service. It ends this process after the clients have got their close frames.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
