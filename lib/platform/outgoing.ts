import { lookup } from 'node:dns/promises'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { readReply } from '#lib/calls/received-reply.ts'
import { createMayReach } from './outgoing-addresses.ts'
import {
  commonHeaders,
  createAddressError,
  createEndedError,
  explainRequestFailure,
  getHost,
  type OutgoingRequest,
  type SendOutgoing,
  waitUntilAborted,
} from './outgoing-request.ts'

interface Address {
  readonly address: string
  readonly family: number
}

interface Options {
  /** Addresses and ranges to which this service may connect in addition to public ones. */
  readonly allowed: readonly string[]
  /** Looks up all addresses of a name. By default the system does. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>
}

/** A reply whose body is read as it comes. Its reader gets an error when the connection ends early. */
export interface OpenReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
  /** Ends the connection. The body may have been read or not. */
  close(): void
}

/**
 * Sends one request, and gives its reply as soon as the headers are there. It returns every status, and follows no redirect.
 * Throws as `SendOutgoing`; errors while the body is read are those of the system.
 */
export type OpenOutgoing = (request: Omit<OutgoingRequest, 'maxReplyBytes'>) => Promise<OpenReply>

/** Creates the function that opens requests to servers that users name, over connections of Node. */
export const createOpenOutgoing = (options: Options): OpenOutgoing => {
  const { allowed, resolve = (host: string) => lookup(host, { all: true }) } = options
  const mayReach = createMayReach(allowed)

  /** Looks up the addresses of a host to which this service may connect. */
  const findAddresses = async (host: string, signal: AbortSignal): Promise<readonly [Address, ...Address[]]> => {
    const family = isIP(host)
    const all = family === 0 ? await waitUntilAborted(signal, host, resolve(host)) : [{ address: host, family }]
    const [first, ...others] = all.filter(({ address }) => mayReach(address))
    if (!first) throw createAddressError(host)
    return [first, ...others]
  }

  const send = async ({ method, url, headers, body, signal }: Parameters<OpenOutgoing>[0], host: string) => {
    const addresses = await findAddresses(host, signal)
    const [first] = addresses
    const { promise, resolve: onResponse, reject } = Promise.withResolvers<IncomingMessage>()
    const { request: openRequest } = url.protocol === 'https:' ? https : http
    const request = openRequest(url, {
      method,
      headers: {
        ...commonHeaders,
        ...headers,
        ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      signal,
      // A new connection without a proxy, so that the request goes to an address that was checked.
      agent: false,
      lookup: (_host, { all }, done) => (all ? done(null, [...addresses]) : done(null, first.address, first.family)),
    })
    request.once('response', onResponse)
    request.on('error', reject)
    // When a reply asks for another protocol, Node ends the connection without an error.
    request.once('close', () => reject(createEndedError(host)))
    request.end(body)
    const response = await promise
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      // A stream of Node without an encoding gives buffers.
      body: response as AsyncIterable<Buffer>,
      close: () => void response.destroy(),
    }
  }

  return async request => {
    try {
      return await send(request, getHost(request.url))
    } catch (error) {
      throw explainRequestFailure(request.url, error, request.signal)
    }
  }
}

/** Creates the function that sends requests to servers that users name, and reads their replies. */
export const createOutgoing = (options: Options): SendOutgoing => {
  const open = createOpenOutgoing(options)
  return async ({ maxReplyBytes, ...request }) => {
    const { status, headers, body } = await open(request)
    try {
      return { status, headers, body: await readReply(getHost(request.url), body, maxReplyBytes) }
    } catch (error) {
      throw explainRequestFailure(request.url, error, request.signal)
    }
  }
}
