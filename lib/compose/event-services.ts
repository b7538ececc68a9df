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
import { openSocketPath } from '#lib/platform/local-socket.ts'
import { getAreaLogger, onLogLine } from '#lib/platform/log.ts'
import type { OpenedStore } from '#lib/storage/open-store.ts'

interface Options {
  readonly config: Config
  /** The file of the program. The file of the events process is in the same folder. */
  readonly entry: URL
  readonly store: Pick<OpenedStore, 'logAccess'>
  readonly events: Events
}

/** The readers of events. Close them before the connections. Disposing of this closes the event log reader. */
interface EventServices extends Disposable {
  readonly subscriptions: Subscriptions
  readonly streams: EventStreams
}

/** Opens the readers of events, and publishes metrics and log lines to them as they come. */
export const openEventServices = ({ config, entry, store, events }: Options): EventServices => {
  using stack = new DisposableStack()
  const hub = stack.use(createHub(events))
  const outOfProcess =
    config.events === 'process'
      ? createOutOfProcessGateway({
          program: fileURLToPath(new URL('events.mjs', entry)),
          socket: stack.use(openSocketPath(config.state, 'events.sock')).path,
          events,
          reading: store.logAccess,
          log: getAreaLogger('events'),
        })
      : undefined
  const broadcast = (event: NewEvent): void => {
    const stored = createStoredEvent(event)
    hub.broadcast(stored)
    outOfProcess?.broadcast(stored)
  }
  stack.use(publishStatistics(broadcast))
  // Only super users receive log lines, because the log contains data of all users.
  stack.use(onLogLine(line => broadcast({ type: 'system_logs', message: 'System Log', body: line, audience: {} })))
  const subscriptions = createSubscriptions({
    events,
    gateway: outOfProcess ?? createInProcessGateway(hub),
    limits: { user: config.subscriptions_per_user, all: config.subscriptions },
  })
  const streams = createEventStreams({ events, hub })
  const resources = stack.move()
  return { subscriptions, streams, [Symbol.dispose]: () => resources.dispose() }
}
