import { getBody } from './body.ts'
import { expectSuccess } from './error.ts'
import { backOff, pause, throwUnlessPassing } from './retry.ts'
import type { Send } from './send.ts'
import { readMessages } from './sse.ts'
import type { EventGap, EventOptions, StreamedEvent } from './types.ts'

/** The service writes at least every 15 seconds. After a longer silence the connection is dead, whatever TCP says. */
const longestSilence = 45_000

/** Receives events over as many connections as it takes, each from the last cursor on. */
export async function* receiveEvents(
  send: Send,
  { types, since, signal }: EventOptions = {},
): AsyncGenerator<StreamedEvent | EventGap, never> {
  for (let failures = 0; ; failures++) {
    const connection = new AbortController()
    const ended = AbortSignal.any([connection.signal, ...(signal ? [signal] : [])])
    const answered = <T>(answer: Promise<T>): Promise<T> => {
      const timer = setTimeout(() => connection.abort(), longestSilence)
      return answer.finally(() => clearTimeout(timer))
    }
    try {
      const response = await answered(
        expectSuccess(
          send({ path: '/api/v1/events/stream', query: { types: types?.join(','), since }, signal: ended }),
        ),
      )
      const reader = getBody(response).getReader()
      for await (const { id, event, data } of readMessages(() => answered(reader.read()))) {
        // The first message has a cursor alone. It does not show yet that the stream works.
        if (data !== undefined || id === undefined) failures = 0
        since = id ?? since
        signal?.throwIfAborted()
        if (data !== undefined)
          yield event === 'gap'
            ? { event_type: 'gap', message: 'gap', cursor: id ?? '' }
            : // What the service writes.
              (JSON.parse(data) as StreamedEvent)
      }
    } catch (error) {
      throwUnlessPassing(error, signal)
    } finally {
      connection.abort()
    }
    await pause(backOff(failures), signal)
  }
}
