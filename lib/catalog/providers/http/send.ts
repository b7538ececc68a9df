import { lookup as find } from 'node:dns'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { createMayReach } from '#lib/platform/outgoing-addresses.ts'
import { failureOf } from './failures.ts'
import { Passing } from './retry.ts'
import { type Body, watched } from './sent-body.ts'

export interface Ask {
  readonly method: string
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Reply {
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/**
 * Sends one request once and gives its reply as soon as its headers are there, whatever its status is; redirects are
 * replies. Throws `upstream`, as `Passing` where another attempt may do better, `forbidden` for the address of a cloud's
 * credentials, what the body fails with, and the reason of the signal.
 */
export type Fetcher = (ask: Ask) => Promise<Reply>

interface Options {
  /** Trusts any certificate. */
  readonly ignoreCertificate?: boolean
  /**
   * Milliseconds in which nothing may move, for each GiB that was sent where the reply is awaited; there is no limit for
   * the whole.
   */
  readonly idle?: number
}

// Storage may be on a private network. The services where clouds hand out credentials are never storage.
const mayReach = createMayReach(['0.0.0.0/0', '::/0'])

const forbidden = (host: string): ServiceError =>
  new ServiceError('forbidden', `${host} is an address where a cloud keeps credentials, and not a storage.`)

const lookup: LookupFunction = (host, options, done) =>
  find(host, { ...options, all: true }, (error, found) => {
    const addresses = found?.filter(({ address }) => mayReach(address)) ?? []
    if (error || addresses.length === 0) done(error ?? forbidden(host), '', 4)
    else if (options.all) done(null, addresses)
    else done(null, addresses[0]!.address, addresses[0]!.family)
  })

// Bytes go on coming while somebody works with those that have come.
const settings = { keepAlive: true, highWaterMark: 1024 * 1024 }
const agents = { 'http:': new http.Agent(settings), 'https:': new https.Agent(settings) }

const silent = (host: string, milliseconds: number): Error =>
  new Passing(
    `The storage ${host} is silent: nothing came or went for ${milliseconds / 1_000} s (ETIMEDOUT).`,
    undefined,
  )

const GiB = 1024 ** 3

export const createFetcher =
  ({ ignoreCertificate = false, idle = 60_000 }: Options = {}): Fetcher =>
  async ({ method, url, headers, body, signal }) => {
    signal?.throwIfAborted()
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // Addresses are not looked up.
    if (isIP(host) !== 0 && !mayReach(host)) throw forbidden(host)
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const source = body && body.size > 0 ? watched(body) : undefined
    let response: IncomingMessage | undefined
    let limit = idle
    const end = (error: Error): unknown => (response ?? request).destroy(error)
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      headers: {
        // Bytes are kept and measured as they are.
        'Accept-Encoding': 'identity',
        ...headers,
        ...(body && { 'Content-Length': String(body.size) }),
      },
      agent: agents[url.protocol as keyof typeof agents],
      rejectUnauthorized: !ignoreCertificate,
      lookup,
      timeout: idle,
    })
    const setLimit = (milliseconds: number): void => {
      limit = milliseconds
      request.setTimeout(milliseconds)
    }
    request.on('timeout', () => {
      // Neither a source nor a reader that is slow is the server's fault: of that bytes lie here unread, or all have come.
      const isOurTurn = source?.isAwaited() || response?.complete || (response?.readableLength ?? 0) > 0
      if (isOurTurn) request.setTimeout(limit)
      else end(silent(url.host, limit))
    })
    const abort = (): unknown => end(new Error('nobody waits for it any more'))
    signal?.addEventListener('abort', abort, { once: true })
    request.once('close', () => signal?.removeEventListener('abort', abort))
    // Some servers copy what has come, or read it again, before they answer.
    if (body) request.once('finish', () => setLimit(idle * Math.max(1, Math.ceil(body.size / GiB))))
    request.once('response', message => {
      response = message
      setLimit(idle)
      // Who answers before the body is there has refused it.
      if (!request.writableFinished) message.once('end', () => request.destroy())
      const status = message.statusCode!
      // Where there is no body its end sets the connection free for the next request.
      if (method === 'HEAD' || status === 204 || status === 304) message.resume()
      resolve({ url, status, headers: message.headers, body: message })
    })
    request.on('error', reject)
    request.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    if (source) pipeline(Readable.from(source.body.open()), request, () => undefined)
    else request.end()
    try {
      return await promise
    } catch (error) {
      signal?.throwIfAborted()
      const failure = source?.failure()
      throw failure ? failure.error : failureOf(url.host, error)
    }
  }
