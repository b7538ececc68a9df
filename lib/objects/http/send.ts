import { lookup as find } from 'node:dns'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { createMayReach } from '#lib/platform/outgoing-addresses.ts'
import { createTransportError } from './http-errors.ts'
import { TransientError } from '#lib/async/retry.ts'
import { type RequestBody, trackBody } from './request-body.ts'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: RequestBody | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Reply {
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/**
 * Sends one request once. Gives its reply as soon as the headers arrive, whatever the status is; redirects are not followed.
 * Throws `upstream` (`TransientError` when another attempt may succeed), `forbidden` for the address of a cloud's metadata
 * service, the error of the body, and the reason of the signal.
 */
export type Fetcher = (request: HttpRequest) => Promise<Reply>

interface Options {
  /** Accepts any certificate. */
  readonly ignoreCertificate?: boolean
  /**
   * Milliseconds without any traffic after which a request fails. While the reply is awaited, it is multiplied by the GiB of
   * the body. There is no timeout for the whole request.
   */
  readonly idleTimeout?: number
}

// A storage may be on a private network. Metadata services, where clouds hand out credentials, are never a storage.
const mayReach = createMayReach(['0.0.0.0/0', '::/0'])

const createMetadataAddressError = (host: string): ServiceError =>
  new ServiceError('forbidden', `${host} is the address of a cloud's metadata service, and not a storage.`)

const lookup: LookupFunction = (host, options, done) =>
  find(host, { ...options, all: true }, (error, found) => {
    const addresses = found?.filter(({ address }) => mayReach(address)) ?? []
    if (error || addresses.length === 0) done(error ?? createMetadataAddressError(host), '', 4)
    else if (options.all) done(null, addresses)
    else done(null, addresses[0]!.address, addresses[0]!.family)
  })

// A large buffer lets bytes arrive while earlier ones are processed.
const agentOptions = { keepAlive: true, highWaterMark: 1024 * 1024 }
const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) }

const createIdleError = (host: string, milliseconds: number): Error =>
  new TransientError(
    `The storage ${host} is silent: nothing came or went for ${milliseconds / 1_000} s (ETIMEDOUT).`,
    undefined,
  )

const GiB = 1024 ** 3

export const createFetcher =
  ({ ignoreCertificate = false, idleTimeout = 60_000 }: Options = {}): Fetcher =>
  async ({ method, url, headers, body, signal }) => {
    signal?.throwIfAborted()
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // For an IP address `lookup` is not called.
    if (isIP(host) !== 0 && !mayReach(host)) throw createMetadataAddressError(host)
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const source = body && body.size > 0 ? trackBody(body) : undefined
    let response: IncomingMessage | undefined
    let timeout = idleTimeout
    const end = (error: Error): unknown => (response ?? request).destroy(error)
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      headers: {
        // Sizes and digests are those of the stored bytes, so no compression.
        'Accept-Encoding': 'identity',
        ...headers,
        ...(body && { 'Content-Length': String(body.size) }),
      },
      // Connections have addresses of http and https only.
      agent: agents[url.protocol as keyof typeof agents],
      rejectUnauthorized: !ignoreCertificate,
      lookup,
      timeout: idleTimeout,
    })
    const setLimit = (milliseconds: number): void => {
      timeout = milliseconds
      request.setTimeout(milliseconds)
    }
    request.on('timeout', () => {
      // A slow source or a slow reader is not the server's fault: bytes lie here unread, or all have arrived.
      const isOurTurn = source?.isWaitingForSource() || response?.complete || (response?.readableLength ?? 0) > 0
      if (isOurTurn) request.setTimeout(timeout)
      else end(createIdleError(url.host, timeout))
    })
    const abort = (): unknown => end(new Error('the request was aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    request.once('close', () => signal?.removeEventListener('abort', abort))
    // Some servers copy or verify the received bytes before they reply.
    if (body) request.once('finish', () => setLimit(idleTimeout * Math.max(1, Math.ceil(body.size / GiB))))
    request.once('response', message => {
      response = message
      setLimit(idleTimeout)
      // A server that replies before it has the whole body has refused it.
      if (!request.writableFinished) message.once('end', () => request.destroy())
      const status = message.statusCode!
      // The end of a reply without a body frees the connection for the next request.
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
      const failure = source?.sourceError()
      throw failure ? failure.error : createTransportError(url.host, error)
    }
  }
