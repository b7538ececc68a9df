import { fileURLToPath } from 'node:url'
import type { Config } from './config.ts'
import { createOutOfProcessGateway } from '#lib/events/out-of-process.ts'
import { type NewEvent, createStoredEvent } from '#lib/events/event.ts'
import type { Events } from '#lib/events/events.ts'
import { createHub } from '#lib/events/hub.ts'
import { createInProcessGateway } from '#lib/events/in-process.ts'
import { createEventStreams, type EventStreams } from '#lib/events/stream.ts'
import { createSubscriptions, type Subscriptions } from '#lib/events/subscriptions.ts'
import { publishStatistics } from '#lib/metrics/statistics.ts'
import { socketPath } from '#lib/platform/local-socket.ts'
import { logOf, onLogLine } from '#lib/platform/log.ts'
import type { OpenedStore } from '#lib/storage/open-store.ts'

interface Parts {
  readonly config: Config
  /** The program's own file, beside which that of the events process is. */
  readonly entry: URL
  readonly store: Pick<OpenedStore, 'logAccess'>
  readonly events: Events
}

/** Who reads events as they come: to be ended before the connections are. Disposing lets go of the log. */
interface EventServices extends Disposable {
  readonly subscriptions: Subscriptions
  readonly streams: EventStreams
}

export const openEventServices = ({ config, entry, store, events }: Parts): EventServices => {
  using stack = new DisposableStack()
  const hub = stack.use(createHub(events))
  const apart =
    config.events === 'process'
      ? createOutOfProcessGateway({
          program: fileURLToPath(new URL('events.mjs', entry)),
          socket: stack.use(socketPath(config.state, 'events.sock')).path,
          events,
          reading: store.logAccess,
          log: logOf('events'),
        })
      : undefined
  const pass = (event: NewEvent): void => {
    const whole = createStoredEvent(event)
    hub.broadcast(whole)
    apart?.broadcast(whole)
  }
  stack.use(publishStatistics(pass))
  // Of super users alone: a log tells of everybody.
  stack.use(onLogLine(line => pass({ type: 'system_logs', message: 'System Log', body: line, audience: {} })))
  const subscriptions = createSubscriptions({
    events,
    gateway: apart ?? createInProcessGateway(hub),
    limits: { user: config.subscriptions_per_user, all: config.subscriptions },
  })
  const streams = createEventStreams({ events, hub })
  const kept = stack.move()
  return { subscriptions, streams, [Symbol.dispose]: () => kept.dispose() }
}
