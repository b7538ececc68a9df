import type { Every } from '#lib/async/every.ts'
import { createStoredEvent, type NewEvent } from '#lib/events/event.ts'
import type { Events } from '#lib/events/events.ts'
import { createHub } from '#lib/events/hub.ts'
import { createInProcessGateway } from '#lib/events/in-process.ts'
import type { OutOfProcessGateway } from '#lib/events/out-of-process.ts'
import { createEventStreams, type EventStreams } from '#lib/events/stream.ts'
import { createSubscriptions, type Subscriptions } from '#lib/events/subscriptions.ts'

/** What a program hands in for the readers of events. */
export interface EventPorts {
  readonly every: Every
  /** The most WebSockets of one user, and in all. */
  readonly limits: { readonly user: number; readonly all: number }
  /** Opens the process that serves WebSockets, and adds what it needs to `resources`. Without it, this process serves them. */
  readonly openProcess?: ((resources: DisposableStack) => OutOfProcessGateway) | undefined
}

/** The readers of events. Close them before the connections. Disposing of this closes the event log reader. */
interface EventServices extends Disposable {
  readonly subscriptions: Subscriptions
  readonly streams: EventStreams
  /** Sends an event to the present readers without storing it in the log. */
  broadcast(event: NewEvent): void
}

/** Opens the readers of events. */
export const openEventServices = (events: Events, { every, limits, openProcess }: EventPorts): EventServices => {
  using stack = new DisposableStack()
  const hub = stack.use(createHub(events, every))
  const outOfProcess = openProcess?.(stack)
  const gateway = outOfProcess ?? createInProcessGateway(hub)
  const subscriptions = createSubscriptions({ events, gateway, every, limits })
  const streams = createEventStreams({ events, hub })
  const resources = stack.move()
  return {
    subscriptions,
    streams,
    broadcast(event) {
      const stored = createStoredEvent(event)
      hub.broadcast(stored)
      outOfProcess?.broadcast(stored)
    },
    [Symbol.dispose]: () => resources.dispose(),
  }
}
