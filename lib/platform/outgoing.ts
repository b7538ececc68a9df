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
  /** Ends it, at its time limit or because nobody waits any more. */
  readonly signal: AbortSignal
  /** Bytes of the reply that are read. */
  readonly most: number
}

export interface OutgoingReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer<ArrayBuffer>
}

/**
 * Sends one request to a server that somebody has named, and reads its reply whatever the status is; redirects are
 * replies. Throws `forbidden` when the host has no address that may be reached, `upstream` when it cannot be found or
 * reached, or breaks off, or sends too much, and `timeout`.
 */
export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingReply>

interface Address {
  readonly address: string
  readonly family: number
}

interface Options {
  /** Addresses and ranges, beside the public ones, that may be reached. */
  readonly allowed: readonly string[]
  /** Looks up all addresses of a name; that of the system when left out. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>
}

const givenUp = (host: string, { reason }: AbortSignal, cause: unknown = reason): ServiceError =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new ServiceError('timeout', `The host ${host} did not answer in time.`, { cause })
    : new ServiceError('upstream', `The request to ${host} was given up, because nobody waits for it.`, { cause })

/** Waits for what cannot be ended, until the signal says that waiting is over. Throws `timeout` and `upstream` then. */
export const untilAborted = async <T>(signal: AbortSignal, host: string, promise: Promise<T>): Promise<T> => {
  try {
    return await abortable(promise, signal)
  } catch (error) {
    throw signal.aborted && error === signal.reason ? givenUp(host, signal) : error
  }
}

/** A host's name or address, without the brackets that a URL has around an IPv6 one. */
const bareName = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

const untrusted = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/

/** What went wrong in words. Node's own name the address, and what a name stands for inside is nobody's business. */
const failure = ({ host: place, hostname }: URL, error: unknown, signal: AbortSignal): ServiceError => {
  const host = bareName(hostname)
  if (error instanceof ServiceError) return error
  const details = { cause: error }
  if (signal.aborted) return givenUp(host, signal, error)
  const { code = 'no reason was given' }: { code?: string } = Object(error)
  if (/^(ENOTFOUND|EAI_)/.test(code))
    return new ServiceError('upstream', `The host ${host} cannot be found: ${code}.`, details)
  const hint = untrusted.test(code)
    ? '; a certificate that no public authority signed is trusted when NODE_EXTRA_CA_CERTS of this service names its file'
    : code === 'ECONNREFUSED'
      ? '; nobody listens there: does the service run, and on this port?'
      : ''
  return new ServiceError(
    'upstream',
    `The request to ${place} failed: ${code}${hint}${hint.endsWith('?') ? '' : '.'}`,
    details,
  )
}

const readReply = async (host: string, response: IncomingMessage, most: number): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Buffer[] = []
  let size = 0
  // A stream of Node without an encoding gives buffers.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most)
      throw new ServiceError('upstream', `The reply of ${host} is larger than the ${most} bytes that are read of one.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export const createOutgoing = (options: Options): Outgoing => {
  const { allowed, resolve = (host: string) => lookup(host, { all: true }) } = options
  const mayReach = createMayReach(allowed)

  const reachable = async (host: string, signal: AbortSignal): Promise<readonly Address[]> => {
    const family = isIP(host)
    const all = family === 0 ? await untilAborted(signal, host, resolve(host)) : [{ address: host, family }]
    const found = all.filter(({ address }) => mayReach(address))
    if (found.length === 0)
      throw new ServiceError(
        'forbidden',
        `The host ${host} has no address that may be reached: private ones have to be allowed by outgoing_addresses in the configuration.`,
      )
    return found
  }

  const send = async ({ method, url, headers, body, signal, most }: OutgoingRequest, host: string) => {
    const addresses = await reachable(host, signal)
    const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>()
    const { request: open } = url.protocol === 'https:' ? https : http
    const request = open(url, {
      method,
      headers: {
        Accept: 'application/json',
        'Accept-Encoding': 'identity',
        ...headers,
        ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      signal,
      // A connection of its own, and by no proxy of the environment: what was checked is what is connected to.
      agent: false,
      lookup: (_host, { all }, done) =>
        all ? done(null, [...addresses]) : done(null, addresses[0]!.address, addresses[0]!.family),
    })
    request.once('response', answered)
    request.on('error', reject)
    // A reply that asks for another protocol ends the connection without an error.
    request.once('close', () => reject(new ServiceError('upstream', `The host ${host} ended the connection.`)))
    request.end(body)
    const response = await promise
    return { status: response.statusCode!, headers: response.headers, body: await readReply(host, response, most) }
  }

  return async request => {
    try {
      return await send(request, bareName(request.url.hostname))
    } catch (error) {
      throw failure(request.url, error, request.signal)
    }
  }
}
