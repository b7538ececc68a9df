import { createClient } from '#lib/client/client.ts'
import { createStore } from './store.ts'

/** Why nobody is signed in: a text for the user, or nothing. Undefined while somebody is. */
export const refusal = createStore<{ readonly reason: string } | undefined>(undefined)

/** The paths whose 401 does not say that a session has ended. */
const signInPaths = /\/auth\/(?:session|links\/use)$/

/**
 * Sends a request with the session of the browser. The cookie counts only together with the header, which no page of another site can
 * set.
 */
const sendAsConsole = async (url: string, init: RequestInit): Promise<Response> => {
  const headers = new Headers(init.headers)
  headers.set('X-VMHost-Console', '1')
  const response = await fetch(url, { ...init, headers, credentials: 'same-origin' })
  if (response.status === 401 && !signInPaths.test(url))
    refusal.set({ reason: 'Your session has ended. Sign in again to continue.' })
  return response
}

/** The client of the service that has served this page. */
export const client = createClient({ url: '/', fetch: sendAsConsole })
