import { WebSocket } from 'ws'
import { expect } from 'vitest'
import type { EventMessage } from '#lib/events/event.ts'
import { until } from './waiting.ts'

/** A client of the hosts of `openSubscriptionHost`. */
export interface EventReader {
  readonly messages: readonly EventMessage[]
  readonly socket: WebSocket
  /** The code and the reason of the close frame. */
  readonly closed: Promise<readonly [code: number, reason: string]>
  /** The messages of events so far, without those that are not in the log. */
  events(): readonly string[]
  waitFor(message: string): Promise<EventMessage>
}

/** Connects over a WebSocket; settles with the first message. Throws an error with the status and the body of a refusal. */
export const connectReader = (url: string, token: string, query = ''): Promise<EventReader> =>
  new Promise((resolve, reject) => {
    const messages: EventMessage[] = []
    const socket = new WebSocket(`${url.replace('http', 'ws')}/subscribe${query}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const closed = new Promise<readonly [number, string]>(settle =>
      socket.once('close', (code, reason) => settle([code, reason.toString()])),
    )
    const events = (): string[] => messages.filter(one => one.seq !== undefined).map(one => one.message)
    socket.on('message', (data: Buffer) => {
      messages.push(JSON.parse(data.toString()))
      if (messages.length > 1) return
      const waitFor = (message: string) =>
        until(() => messages.find(one => one.message === message) ?? expect.fail(`no ${message} yet`))
      resolve({ messages, socket, closed, events, waitFor })
    })
    // This has no answer. Without a message workerd ends the connection of a closed client only after a while.
    socket.once('open', () => socket.send('{"event_type":"system"}'))
    socket.once('error', reject)
    socket.once('unexpected-response', (_, response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => void (text += chunk.toString()))
      response.once('end', () => reject(Object.assign(new Error(text), { status: response.statusCode })))
    })
  })
