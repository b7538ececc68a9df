import type { Principal } from '#lib/access/principal.ts'
import { every } from '#lib/async/every.ts'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { type EventType, eventTypes } from './event.ts'
import type { Events } from './events.ts'
import type { EncodedMessage } from './frame.ts'
import type { Hub } from './hub.ts'
import { parseEventTypes } from './schemas.ts'

interface StreamRequest {
  readonly since: string | undefined
  readonly types: string | undefined
  readonly caller: Principal
  readonly reauthenticate: () => Promise<Principal>
}

/**
 * Opens a stream of server-sent events (HTML standard, 9.2). It ends when the caller's credential does. Throws `invalid`
 * for a bad cursor.
 */
export type OpenEventStream = (request: StreamRequest) => StreamReply

const encoder = new TextEncoder()
const reauthenticateInterval = 1_000
// Proxies close connections that are silent for a minute.
const ticksPerComment = 15

/** Opens streams of events. Disposing ends all of them. */
export interface EventStreams extends Disposable {
  readonly open: OpenEventStream
}

interface Options {
  readonly events: Pick<Events, 'head' | 'resolveCursor'>
  readonly hub: Hub
}

export const createEventStreams = ({ events, hub }: Options): EventStreams => {
  const openStreams = new Set<() => void>()
  const open: OpenEventStream = ({ since, types: text, caller, reauthenticate }) => {
    const { types } = parseEventTypes(text)
    const selected = new Set<EventType>(types.length > 0 ? types : eventTypes)
    const { cursor, gap } = since === undefined ? { cursor: events.head(), gap: false } : events.resolveCursor(since)
    let principal = caller
    let notify = (): void => {}
    let onBroadcast: (event: EncodedMessage) => void = () => {}
    const subscription = hub.subscribe({
      after: cursor,
      types: selected,
      principal: () => principal,
      onAvailable: () => notify(),
      onBroadcast: event => onBroadcast(event),
    })
    let timer: Disposable | undefined
    let ended = false
    const end = (): void => {
      ended = true
      openStreams.delete(end)
      timer?.[Symbol.dispose]()
      subscription[Symbol.dispose]()
      notify()
    }
    openStreams.add(end)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        // With the cursor at once, a client that is disconnected before the first event misses none.
        const greeting = `id: ${subscription.cursor()}\nretry: 2000\n\n`
        controller.enqueue(encoder.encode(greeting + (gap ? formatGap(subscription.cursor()) : '')))
        // A slow reader misses events that are not in the log.
        onBroadcast = ({ text }) => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(`data: ${text.toString()}\n\n`))
        }
        let ticks = 0
        // An open stream keeps the program awake, so this needs no port.
        timer = every(reauthenticateInterval, () => {
          ticks += 1
          if (ticks % ticksPerComment === 0) controller.enqueue(encoder.encode(': still here\n\n'))
          reauthenticate().then(now => void (principal = now), end)
        })
      },
      async pull(controller) {
        for (;;) {
          if (ended) return controller.close()
          const frames = subscription.next(64)
          if (frames === 'gap') return controller.enqueue(encoder.encode(formatGap(subscription.cursor())))
          if (frames.length > 0)
            return controller.enqueue(
              encoder.encode(frames.map(({ cursor, text }) => `id: ${cursor}\ndata: ${text.toString()}\n\n`).join('')),
            )
          await new Promise<void>(resolve => void (notify = resolve))
        }
      },
      cancel: end,
    })
    return new StreamReply('text/event-stream', body)
  }
  return { open, [Symbol.dispose]: () => openStreams.forEach(end => end()) }
}

const formatGap = (cursor: string): string => `id: ${cursor}\nevent: gap\ndata: {"cursor":"${cursor}"}\n\n`
