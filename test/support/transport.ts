import type { App } from '#lib/http/app.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { type Listener, openListener } from '#lib/listener/listener.ts'

interface Message {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
}

/** Sends a request for a path to an application, as a caller at this address. */
export type Send = (path: string, message: Message, address?: string) => Promise<Response>

const origin = 'https://host-1.example.test:8443'

// Before a test puts its own network in the place of the real one.
const { fetch, Request, Response } = globalThis

const listeners = new WeakMap<App, Promise<Listener>>()

const listenerOf = (app: App): Promise<Listener> => {
  const known = listeners.get(app)
  if (known) return known
  const opened = openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress(['127.0.0.1']),
    ...app,
  })
  // The listener has put its own in their place, which what stands for the network does not know.
  Object.assign(globalThis, { Request, Response })
  listeners.set(app, opened)
  return opened
}

/** Over a real connection, as the service is asked; what this run names no listener for goes straight to the application. */
const sendOverListener =
  (app: App): Send =>
  async (path, message, address) => {
    const { url } = await listenerOf(app)
    const headers = { ...message.headers, ...(address !== undefined && { 'x-forwarded-for': address }) }
    return fetch(url + path, { ...message, headers })
  }

/** How requests reach an application in this run: `TEST_TRANSPORT=listener` has all of them go over a connection. */
export const sendTo = (app: App): Send =>
  process.env['TEST_TRANSPORT'] === 'listener'
    ? sendOverListener(app)
    : async (path, message, address = '') => app.fetch(new Request(origin + path, message), { address })

/** Ends the connections to an application, where there are any. */
export const closeTransport = async (app: App): Promise<void> => {
  const now = new AbortController()
  const closed = (await listeners.get(app))?.close(now.signal)
  now.abort()
  await closed
}
