import { repeat } from './retry.ts'
import type { ClientOptions, SendRequest, TokenProvider } from './types.ts'

interface Options {
  readonly base: string
  readonly fetch: NonNullable<ClientOptions['fetch']>
  /** How often a request is repeated; 4 times when left out. */
  readonly retries: number | undefined
  readonly tokens?: TokenProvider | undefined
  readonly apiKey?: string | undefined
}

/** Sends a request and gives the response, whatever its status. */
export type Send = (request: SendRequest) => Promise<Response>

/** It is not `crypto.randomUUID`, which pages have only on HTTPS. */
const createKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-')

/** Appends a query to a path. Members without a value are left out. */
export const withQuery = (path: string, query: SendRequest['query'] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return given.length > 0 ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path
}

/** Makes the function that sends with credential, key and retries. */
export const createSend =
  ({ base, fetch, retries = 4, tokens, apiKey }: Options): Send =>
  async ({ method = 'GET', path, query, body, headers: given, signal, idempotencyKey }) => {
    const headers = new Headers(given)
    const isRead = method === 'GET' || method === 'HEAD'
    const isStream = body instanceof ReadableStream
    const mostRetries = isStream ? 0 : retries
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey)
    // What is sent once needs no key of its own.
    if (!isRead && mostRetries > 0 && !headers.has('Idempotency-Key')) headers.set('Idempotency-Key', createKey())
    if (apiKey !== undefined) headers.set('X-Api-Key', apiKey)
    const provider = headers.has('Authorization') ? undefined : tokens
    const init = {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
      // The service leads nowhere else, and the credentials must not follow.
      redirect: 'manual' as const,
      // Streams need it. Not all types of the platforms know it.
      duplex: 'half',
    }
    const sendAs = (token: string | undefined): Promise<Response> => {
      if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
      const url = base + withQuery(path, query)
      return repeat(() => fetch(url, init), { retries: mostRetries, isRead, signal })
    }
    const token = await provider?.()
    const response = await sendAs(token)
    if (response.status !== 401 || !provider || isStream) return response
    // The token has ended before its time.
    const other = await provider(token)
    if (other === token) return response
    await response.body?.cancel()
    return sendAs(other)
  }
