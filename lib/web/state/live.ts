import type { Event } from '#lib/client/api.gen.ts'
import { getBody } from '#lib/client/body.ts'
import { expectSuccess } from '#lib/client/error.ts'
import { backOff, pause, throwUnlessPassing } from '#lib/client/retry.ts'
import { readMessages } from '#lib/client/sse.ts'
import { findRow } from './calls.ts'
import { client } from './service.ts'
import { createStore } from './store.ts'

export type LiveEvent = Omit<Event, 'seq' | 'cursor'> & Partial<Pick<Event, 'seq' | 'cursor'>>

/** Something that follows the events of the service. */
export interface Follower {
  /** Events were missed, or none was received yet: reads everything again. */
  reset(): void
  onEvent(event: LiveEvent): void
}

/** Whether the page is up to date. */
export const connection = createStore<'connecting' | 'live' | 'offline'>('connecting')

/** The service writes at least every 15 seconds. After a longer silence the connection is dead. */
const longestSilence = 45_000

const followers = new Set<Follower>()
let running: AbortController | undefined

/**
 * Has a follower receive all events from now on. It is reset first, unless the first connection is still to come, which resets all. The
 * function that this gives ends it.
 */
export const follow = (follower: Follower): (() => void) => {
  followers.add(follower)
  if (connection.get() !== 'connecting') follower.reset()
  return () => void followers.delete(follower)
}

const resetAll = (): void => {
  for (const follower of followers) follower.reset()
}

/** Reads one connection to its end, and gives the cursor after the last event. */
const readConnection = async (since: string | undefined, signal: AbortSignal, onCursor: (cursor: string) => void) => {
  const silence = new AbortController()
  const withinTime = <T>(answer: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => silence.abort(), longestSilence)
    return answer.finally(() => clearTimeout(timer))
  }
  const ended = AbortSignal.any([silence.signal, signal])
  try {
    const sent = client.send({ path: findRow('events.stream').path, query: { since }, signal: ended })
    const reader = getBody(await withinTime(expectSuccess(sent))).getReader()
    for await (const { id, event, data } of readMessages(() => withinTime(reader.read()))) {
      // The first message has the cursor alone. What is read after it is newer, so no change is lost between.
      if (connection.get() !== 'live') connection.set('live')
      if (id !== undefined) onCursor(id)
      if (event === 'gap') resetAll()
      // What the service writes.
      else if (data !== undefined) for (const { onEvent } of followers) onEvent(JSON.parse(data) as LiveEvent)
    }
  } finally {
    silence.abort()
  }
}

const run = async (signal: AbortSignal): Promise<void> => {
  let cursor: string | undefined
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await readConnection(cursor, signal, next => {
        if (cursor === undefined) resetAll()
        cursor = next
        failures = 0
      })
    } catch (error) {
      throwUnlessPassing(error, signal)
    }
    connection.set('offline')
    await pause(backOff(failures), signal)
  }
}

/** Follows the events of the service from now on, over lost connections. */
export const startLive = (): void => {
  running?.abort()
  running = new AbortController()
  connection.set('connecting')
  // A refusal ends the session, which the page shows.
  run(running.signal).catch(() => connection.set('offline'))
}

export const stopLive = (): void => running?.abort()
