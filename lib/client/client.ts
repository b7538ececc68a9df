import type { Ticket, Token } from './api.gen.ts'
import { expectSuccess } from './error.ts'
import { receiveEvents } from './events.ts'
import { followJob } from './jobs.ts'
import { createApi } from './operations.ts'
import { createSend, withQuery } from './send.ts'
import { createTokens } from './tokens.ts'
import type { Client, ClientOptions, FollowOptions, TokenProvider } from './types.ts'

export { VmhostError } from './error.ts'

/** Only pages have a location. */
const page = (globalThis as { readonly location?: { readonly href: string } }).location

/** Makes a client of the service at an address. It connects when it is first used. */
export const createClient = ({ url, signIn, token, apiKey, retries, fetch }: ClientOptions): Client => {
  const base = new URL(url, page?.href).href.replace(/\/+$/, '')
  // The global `fetch` is looked up at each call, because tests and tracing replace it.
  const connection = { base, retries, fetch: fetch ?? ((...request) => globalThis.fetch(...request)) }
  const signInWith = (credentials: object): TokenProvider => {
    const sendPlain = createSend(connection)
    const request = { method: 'POST', path: '/api/v1/auth/token', body: JSON.stringify(credentials) }
    // The contract of the sign-in says so.
    return createTokens(async () => (await expectSuccess(sendPlain(request))).json() as Promise<Token>)
  }
  const tokens = signIn ? signInWith(signIn) : typeof token === 'string' ? () => token : token
  const send = createSend({ ...connection, tokens, apiKey })
  const api = createApi(send, async (path, query) => {
    // Browsers cannot set headers of a WebSocket, and addresses end in logs, so a ticket that is used once is in the query.
    const body = JSON.stringify({ path: withQuery(path, query).replace(/^\/api/, '') })
    const response = await expectSuccess(send({ method: 'POST', path: '/api/v1/auth/tickets', body }))
    // The contract of the endpoint says so.
    const { ticket } = (await response.json()) as Ticket
    return new WebSocket(base.replace(/^http/, 'ws') + withQuery(path, { ...query, ticket }))
  })
  const follow = (job: string | { readonly id: string }, options?: FollowOptions): Promise<unknown> =>
    followJob(api, typeof job === 'string' ? job : job.id, options)
  return {
    api,
    send,
    events: options => receiveEvents(send, options),
    // A job keeps its type, because its result is the reply of the call that it runs.
    follow: follow as Client['follow'],
  }
}
