import { fileURLToPath } from 'node:url'
import type { Config } from '#lib/config.ts'
import { createReadersApart } from '#lib/events/apart.ts'
import { type NewEvent, storedEvent } from '#lib/events/event.ts'
import type { Events } from '#lib/events/events.ts'
import { createHub } from '#lib/events/hub.ts'
import { createInlineReaders } from '#lib/events/inline.ts'
import { createStreams, type Streams } from '#lib/events/stream.ts'
import { createSubscriptions, type Subscriptions } from '#lib/events/subscriptions.ts'
import { tellStatistics } from '#lib/metrics/statistics.ts'
import { socketPath } from '#lib/platform/local-socket.ts'
import { logOf, onLogLine } from '#lib/platform/log.ts'
import type { OpenedStore } from '#lib/storage/open-store.ts'

interface Parts {
  readonly config: Config
  /** The program's own file, beside which that of the events process is. */
  readonly entry: URL
  readonly store: Pick<OpenedStore, 'reading'>
  readonly events: Events
}

/** Who reads events as they come: to be ended before the connections are. Disposing lets go of the log. */
interface EventServices extends Disposable {
  readonly subscriptions: Subscriptions
  readonly streams: Streams
}

export const openEventServices = ({ config, entry, store, events }: Parts): EventServices => {
  using stack = new DisposableStack()
  const hub = stack.use(createHub(events))
  const apart =
    config.events === 'process'
      ? createReadersApart({
          program: fileURLToPath(new URL('events.mjs', entry)),
          socket: stack.use(socketPath(config.state, 'events.sock')).path,
          events,
          reading: store.reading,
          log: logOf('events'),
        })
      : undefined
  const pass = (event: NewEvent): void => {
    const whole = storedEvent(event)
    hub.pass(whole)
    apart?.pass(whole)
  }
  stack.use(tellStatistics(pass))
  // Of super users alone: a log tells of everybody.
  stack.use(onLogLine(line => pass({ type: 'system_logs', message: 'System Log', body: line, audience: {} })))
  const subscriptions = createSubscriptions({
    events,
    readers: apart ?? createInlineReaders(hub),
    limits: { user: config.subscriptions_per_user, all: config.subscriptions },
  })
  const streams = createStreams({ events, hub })
  const kept = stack.move()
  return { subscriptions, streams, [Symbol.dispose]: () => kept.dispose() }
}
