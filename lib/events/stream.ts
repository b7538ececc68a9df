import type { Principal } from '#lib/auth/principal.ts'
import { Stream } from '#lib/http/stream.ts'
import { type EventType, eventTypes } from './event.ts'
import type { Events } from './events.ts'
import type { Hub } from './hub.ts'
import { readTypes } from './schemas.ts'

interface Request {
  readonly since: string | undefined
  readonly types: string | undefined
  readonly caller: Principal
  readonly again: () => Promise<Principal>
}

/** Events as a stream of server-sent events (HTML standard, 9.2): it ends when the caller's credential does. */
export type OpenStream = (request: Request) => Stream

const encoder = new TextEncoder()
const checkEvery = 1_000
// Proxies cut what is silent for a minute.
const commentEvery = 15

/** Streams, all of which end when this is disposed. */
export interface Streams extends Disposable {
  readonly open: OpenStream
}

interface Options {
  readonly events: Pick<Events, 'head' | 'place'>
  readonly hub: Hub
}

export const createStreams = ({ events, hub }: Options): Streams => {
  const ends = new Set<() => void>()
  const open: OpenStream = ({ since, types: text, caller, again }) => {
    const { types } = readTypes(text)
    const wanted = new Set<EventType>(types.length > 0 ? types : eventTypes)
    const { at, gap } = since === undefined ? { at: events.head(), gap: false } : events.place(since)
    let principal = caller
    let wake = (): void => {}
    let passed = (_: Buffer): void => {}
    const subscription = hub.subscribe({
      after: at,
      types: wanted,
      principal: () => principal,
      wake: () => wake(),
      pass: bytes => passed(bytes),
    })
    let timer: NodeJS.Timeout | undefined
    let ended = false
    const end = (): void => {
      ended = true
      ends.delete(end)
      clearInterval(timer)
      subscription[Symbol.dispose]()
      wake()
    }
    ends.add(end)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode(`retry: 2000\n\n${gap ? gapText(subscription.cursor()) : ''}`))
        // Who reads slowly misses what was of the moment.
        passed = bytes => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(`data: ${bytes.toString()}\n\n`))
        }
        let ticks = 0
        timer = setInterval(() => {
          ticks += 1
          if (ticks % commentEvery === 0) controller.enqueue(encoder.encode(': still here\n\n'))
          again().then(now => void (principal = now), end)
        }, checkEvery)
        timer.unref()
      },
      async pull(controller) {
        for (;;) {
          if (ended) return controller.close()
          const frames = subscription.next(64)
          if (frames === 'gap') return controller.enqueue(encoder.encode(gapText(subscription.cursor())))
          if (frames.length > 0)
            return controller.enqueue(
              encoder.encode(
                frames.map(({ cursor, bytes }) => `id: ${cursor}\ndata: ${bytes.toString()}\n\n`).join(''),
              ),
            )
          await new Promise<void>(resolve => void (wake = resolve))
        }
      },
      cancel: end,
    })
    return new Stream('text/event-stream', body)
  }
  return { open, [Symbol.dispose]: () => ends.forEach(end => end()) }
}

const gapText = (cursor: string): string => `id: ${cursor}\nevent: gap\ndata: {"cursor":"${cursor}"}\n\n`
