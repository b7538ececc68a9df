import { lookup } from 'node:dns/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { createMayReach } from './outgoing-addresses.ts'
import {
  commonHeaders,
  createAddressError,
  createEndedError,
  explainFailure,
  getHost,
  type OutgoingRequest,
  readReply,
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

/** Creates the function that sends requests to servers that users name, over connections of Node. */
export const createOutgoing = (options: Options): SendOutgoing => {
  const { allowed, resolve = (host: string) => lookup(host, { all: true }) } = options
  const mayReach = createMayReach(allowed)

  /** Looks up the addresses of a host to which this service may connect. */
  const findAddresses = async (host: string, signal: AbortSignal): Promise<readonly Address[]> => {
    const family = isIP(host)
    const all = family === 0 ? await waitUntilAborted(signal, host, resolve(host)) : [{ address: host, family }]
    const found = all.filter(({ address }) => mayReach(address))
    if (found.length === 0) throw createAddressError(host)
    return found
  }

  const send = async ({ method, url, headers, body, signal, maxReplyBytes }: OutgoingRequest, host: string) => {
    const addresses = await findAddresses(host, signal)
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
      lookup: (_host, { all }, done) =>
        all ? done(null, [...addresses]) : done(null, addresses[0]!.address, addresses[0]!.family),
    })
    request.once('response', onResponse)
    request.on('error', reject)
    // When a reply asks for another protocol, Node ends the connection without an error.
    request.once('close', () => reject(createEndedError(host)))
    request.end(body)
    const response = await promise
    // A stream of Node without an encoding gives buffers.
    const chunks = response as AsyncIterable<Buffer>
    return {
      status: response.statusCode!,
      headers: response.headers,
      body: await readReply(host, chunks, maxReplyBytes),
    }
  }

  return async request => {
    try {
      return await send(request, getHost(request.url))
    } catch (error) {
      throw explainFailure(request.url, error, request.signal)
    }
  }
}
