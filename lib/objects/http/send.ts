import { lookup as find } from 'node:dns'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import {
  checkLiteralAddress,
  type CreateFetcher,
  createIdleError,
  createMetadataAddressError,
  defaultIdleTimeout,
  getReplyTimeout,
  mayBeStorage,
  type Reply,
} from './fetcher.ts'
import { createTransportError } from './http-errors.ts'
import { trackBody } from './request-body.ts'

const lookup: LookupFunction = (host, options, done) =>
  find(host, { ...options, all: true }, (error, found) => {
    const addresses = found?.filter(({ address }) => mayBeStorage(address)) ?? []
    const [first] = addresses
    if (error || !first) done(error ?? createMetadataAddressError(host), '', 4)
    else if (options.all) done(null, addresses)
    else done(null, first.address, first.family)
  })

// A large buffer lets bytes arrive while earlier ones are processed.
const agentOptions = { keepAlive: true, highWaterMark: 1024 * 1024 }
const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) }

/** Creates a fetcher over connections of Node, which it reuses. */
export const createFetcher: CreateFetcher =
  ({ ignoreCertificate = false, idleTimeout = defaultIdleTimeout } = {}) =>
  async ({ method, url, headers, body, signal }) => {
    signal?.throwIfAborted()
    // For an IP address `lookup` is not called.
    checkLiteralAddress(url)
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
    if (body) request.once('finish', () => setLimit(getReplyTimeout(idleTimeout, body)))
    request.once('response', message => {
      response = message
      setLimit(idleTimeout)
      // A server that replies before it has the whole body has refused it.
      if (!request.writableFinished) message.once('end', () => request.destroy())
      const { statusCode: status = 0 } = message
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
