import { isIP } from 'node:net'
import { readReply } from '#lib/calls/received-reply.ts'
import { toCodedError } from './fetch-errors.ts'
import { createMayReach } from './outgoing-addresses.ts'
import {
  commonHeaders,
  createAddressError,
  createEndedError,
  explainRequestFailure,
  getHost,
  type OutgoingRequest,
  type SendOutgoing,
} from './outgoing-request.ts'

interface Options {
  /** Addresses and ranges to which this service may connect in addition to public ones. */
  readonly allowed: readonly string[]
}

/** The address that a name has on every computer (RFC 6761, 6.3); any other name is the platform's to look up. */
const toLiteral = (host: string): string => (/^(.*\.)?localhost\.?$/.test(host) ? '127.0.0.1' : host)

/**
 * Creates the function that sends requests to servers that users name, over `fetch`. An address is checked where the URL has
 * it literally. What a name leads to is not known here: only a platform whose `fetch` refuses private addresses by itself,
 * as Cloudflare's does, may use this.
 */
export const createFetchOutgoing = ({ allowed }: Options): SendOutgoing => {
  const mayReach = createMayReach(allowed)

  const send = async ({ method, url, headers, body, signal, maxReplyBytes }: OutgoingRequest, host: string) => {
    const literal = toLiteral(host)
    if (isIP(literal) !== 0 && !mayReach(literal)) throw createAddressError(host)
    const response = await fetch(url, {
      method,
      headers: { ...commonHeaders, ...headers },
      // As bytes: `fetch` would give a text a Content-Type.
      ...(body !== undefined && { body: Buffer.from(body) }),
      signal,
      redirect: 'manual',
    })
    if (response.status === 101) throw createEndedError(host)
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await readReply(host, response.body, maxReplyBytes),
    }
  }

  return async request => {
    try {
      return await send(request, getHost(request.url))
    } catch (error) {
      throw explainRequestFailure(request.url, toCodedError(error), request.signal)
    }
  }
}
