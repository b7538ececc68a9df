import { lookup as find } from 'node:dns'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { createMayReach } from '#lib/platform/outgoing-addresses.ts'
import { failureOf } from './failures.ts'

export interface Ask {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** Is told how many bytes of the body have gone out. */
  readonly onSent?: ((bytes: number) => void) | undefined
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/**
 * Sends one request once and gives its reply as soon as its headers are there, whatever its status is; redirects are
 * replies. Throws `upstream`, as `Passing` where another attempt may do better, and the reason of the signal.
 */
export type Fetcher = (ask: Ask) => Promise<Reply>

interface Options {
  /** Trusts any certificate. */
  readonly ignoreCertificate?: boolean
  /** Milliseconds in which nothing may move; there is no limit for the whole. */
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

const withCode = (code: string): Error => Object.assign(new Error(code), { code })

const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) }

/** Bytes that are handed on at a time: what progress is told by, and what a slow line must move within the idle limit. */
const step = 256 * 1024

function* stepsOf(body: Uint8Array, onSent?: (bytes: number) => void): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += step) {
    yield body.subarray(at, at + step)
    onSent?.(Math.min(at + step, body.length))
  }
}

export const createFetcher =
  ({ ignoreCertificate = false, idle = 60_000 }: Options = {}): Fetcher =>
  async ({ method, url, headers, body, signal, onSent }) => {
    signal?.throwIfAborted()
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // Addresses are not looked up.
    if (isIP(host) !== 0 && !mayReach(host)) throw forbidden(host)
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    let response: IncomingMessage | undefined
    const end = (error: Error): unknown => (response ?? request).destroy(error)
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      headers: { ...headers, ...(body && { 'Content-Length': String(body.length) }) },
      agent: agents[url.protocol as keyof typeof agents],
      rejectUnauthorized: !ignoreCertificate,
      lookup,
      timeout: idle,
    })
    request.on('timeout', () => {
      // Bytes that lie here unread say that it is the reader who is slow.
      if ((response?.readableLength ?? 0) > 0) request.setTimeout(idle)
      else end(withCode('ETIMEDOUT'))
    })
    const abort = (): unknown => end(new Error('nobody waits for it any more'))
    signal?.addEventListener('abort', abort, { once: true })
    request.once('close', () => signal?.removeEventListener('abort', abort))
    request.once('response', message => {
      response = message
      // Who answers before the body is there has refused it.
      if (!request.writableFinished) message.once('end', () => request.destroy())
      resolve({ status: message.statusCode!, headers: message.headers, body: message })
    })
    request.on('error', reject)
    request.once('close', () => reject(withCode('ECONNRESET')))
    if (body && body.length > 0) pipeline(Readable.from(stepsOf(body, onSent)), request, () => undefined)
    else request.end()
    try {
      return await promise
    } catch (error) {
      signal?.throwIfAborted()
      throw failureOf(url.host, error)
    }
  }
