import { lookup } from 'node:dns/promises'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { abortable } from '#lib/async/abortable.ts'
import { ServiceError } from '#lib/errors.ts'
import { createMayReach } from './outgoing-addresses.ts'

export interface OutgoingRequest {
  readonly method: string
  /** http: or https:. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Aborts the request, at its time limit or because nobody waits for the reply any more. */
  readonly signal: AbortSignal
  /** A larger reply is an error. */
  readonly maxReplyBytes: number
}

export interface OutgoingReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer<ArrayBuffer>
}

/**
 * Sends one request to a server that a user has named, and reads its reply. It returns every status, and follows no redirect.
 * Throws `forbidden` when this service may connect to no address of the host, `upstream` when the host cannot be found or
 * reached, ends the connection early or sends too much, and `timeout`.
 */
export type SendOutgoing = (request: OutgoingRequest) => Promise<OutgoingReply>

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

/** Explains why a request was aborted. */
const createAbortError = (host: string, { reason }: AbortSignal, cause: unknown = reason): ServiceError =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new ServiceError('timeout', `The host ${host} did not answer in time.`, { cause })
    : new ServiceError('upstream', `The request to ${host} was given up, because nobody waits for it.`, { cause })

/**
 * Waits for a promise whose work takes no signal. When the signal aborts, it stops to wait and throws `timeout` or `upstream`.
 */
export const waitUntilAborted = async <T>(signal: AbortSignal, host: string, promise: Promise<T>): Promise<T> => {
  try {
    return await abortable(promise, signal)
  } catch (error) {
    throw signal.aborted && error === signal.reason ? createAbortError(host, signal) : error
  }
}

/** Removes the brackets that a URL has around an IPv6 address. */
const stripBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

const untrustedCodes = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/

/**
 * Explains a failed request by the code of its error. Node's own message names the address, which must not leave the service: it
 * may be one of an internal network.
 */
const explainFailure = ({ host: hostAndPort, hostname }: URL, error: unknown, signal: AbortSignal): ServiceError => {
  const host = stripBrackets(hostname)
  if (error instanceof ServiceError) return error
  const details = { cause: error }
  if (signal.aborted) return createAbortError(host, signal, error)
  const { code = 'no reason was given' }: { code?: string } = Object(error)
  if (/^(ENOTFOUND|EAI_)/.test(code))
    return new ServiceError('upstream', `The host ${host} cannot be found: ${code}.`, details)
  const hint = untrustedCodes.test(code)
    ? '; a certificate that no public authority signed is trusted when NODE_EXTRA_CA_CERTS of this service names its file'
    : code === 'ECONNREFUSED'
      ? '; nobody listens there: does the service run, and on this port?'
      : ''
  return new ServiceError(
    'upstream',
    `The request to ${hostAndPort} failed: ${code}${hint}${hint.endsWith('?') ? '' : '.'}`,
    details,
  )
}

const readReply = async (host: string, response: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Buffer[] = []
  let size = 0
  // A stream of Node without an encoding gives buffers.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes)
      throw new ServiceError('upstream', `The reply of ${host} is larger than ${maxBytes} bytes, the maximum.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Creates the function that sends requests to servers that users name. */
export const createOutgoing = (options: Options): SendOutgoing => {
  const { allowed, resolve = (host: string) => lookup(host, { all: true }) } = options
  const mayReach = createMayReach(allowed)

  /** Looks up the addresses of a host to which this service may connect. */
  const findAddresses = async (host: string, signal: AbortSignal): Promise<readonly Address[]> => {
    const family = isIP(host)
    const all = family === 0 ? await waitUntilAborted(signal, host, resolve(host)) : [{ address: host, family }]
    const found = all.filter(({ address }) => mayReach(address))
    if (found.length === 0)
      throw new ServiceError(
        'forbidden',
        `The host ${host} has no address to which this service may connect. The setting outgoing_addresses allows private addresses.`,
      )
    return found
  }

  const send = async ({ method, url, headers, body, signal, maxReplyBytes }: OutgoingRequest, host: string) => {
    const addresses = await findAddresses(host, signal)
    const { promise, resolve: onResponse, reject } = Promise.withResolvers<IncomingMessage>()
    const { request: openRequest } = url.protocol === 'https:' ? https : http
    const request = openRequest(url, {
      method,
      headers: {
        Accept: 'application/json',
        'Accept-Encoding': 'identity',
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
    request.once('close', () => reject(new ServiceError('upstream', `The host ${host} ended the connection.`)))
    request.end(body)
    const response = await promise
    return {
      status: response.statusCode!,
      headers: response.headers,
      body: await readReply(host, response, maxReplyBytes),
    }
  }

  return async request => {
    try {
      return await send(request, stripBrackets(request.url.hostname))
    } catch (error) {
      throw explainFailure(request.url, error, request.signal)
    }
  }
}
