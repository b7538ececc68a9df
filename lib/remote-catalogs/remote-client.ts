import { isFault, ServiceError } from '#lib/errors.ts'
import { type Outgoing, type OutgoingReply, untilAborted } from '#lib/platform/outgoing.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { toServiceUrl } from './service-url.ts'
import { parseReply } from './parse-reply.ts'
import { parseManifests } from './manifest-replies.ts'
import type { RemoteServer } from './server.ts'
import { createTokenSource } from './remote-tokens.ts'
import { formatFailure, isSuccess, toRefusal } from './error-mapping.ts'

/** A request to another service. */
export interface RemoteRequest {
  /** The id of the user for whom it is made. */
  readonly caller: string
  readonly method: string
  /** Below `/api/v1`, with its segments encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Whether it waits for others of the caller to end when there are too many: what a transfer asks for is no attack. */
  readonly waitsForSlot?: boolean
}

type Waiting = Pick<RemoteRequest, 'caller' | 'signal' | 'waitsForSlot'>

/** Speaks to other services that have a catalog, with what they let in. */
export interface RemoteClient {
  /**
   * The reply as data. Throws the remote service's refusal where it is about what was asked for, `upstream` for all that
   * is the service's own fault, `timeout`, `forbidden` when its address may not be reached, and `unavailable` when the
   * caller has too many under way.
   */
  requestJson(server: RemoteServer, request: RemoteRequest): Promise<unknown>
  /** The reply itself, when it is one of success; `most` is how many bytes it may have. Throws as `ask`. */
  request(server: RemoteServer, request: RemoteRequest, most?: number): Promise<OutgoingReply>
  /** Lists the catalog once. Throws `invalid` for an address that may not be reached, else `upstream` and `timeout`. */
  check(server: RemoteServer, caller: string): Promise<void>
}

/** Requests of one caller at once: each may hold a whole reply, and a service may take its time. */
const mostAtOnce = 8

export interface RemoteLimits {
  /** Milliseconds that the look at a new server may take, and a sign-in. */
  readonly check: number
  /** Milliseconds that a request may take. */
  readonly request: number
  /** Bytes of a reply. */
  readonly reply: number
}

export const defaultLimits: RemoteLimits = { check: 10_000, request: 300_000, reply: 32 * 1024 * 1024 }

export const createRemoteClient = (outgoing: Outgoing, limits = defaultLimits): RemoteClient => {
  const tokenOf = createTokenSource(outgoing, limits.check)

  /** `secrets`: what was sent to be let in. */
  const send = async (
    server: RemoteServer,
    request: RemoteRequest & { readonly most?: number },
    signal: AbortSignal,
    refused?: string,
  ) => {
    const { method, path, query = {}, body, headers = {} } = request
    const key = server.api_key
    const url = toServiceUrl(server, path)
    const token = key === undefined ? await untilAborted(signal, url.hostname, tokenOf(server, refused)) : undefined
    url.search = new URLSearchParams(query).toString()
    const reply = await outgoing({
      method,
      url,
      headers: {
        ...headers,
        ...(key === undefined ? { Authorization: `Bearer ${token}` } : { 'X-Api-Key': key }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      most: request.most ?? limits.reply,
    })
    return { reply, token, secrets: [key, token, server.password].filter(secret => secret !== undefined) }
  }

  const sendWithRenewal = async (
    server: RemoteServer,
    request: RemoteRequest & { readonly most?: number },
    signal: AbortSignal,
  ) => {
    const first = await send(server, request, signal)
    // A token may have ended before its time. Nothing was done for it, so it can be asked again.
    return first.reply.status === 401 && first.token !== undefined ? send(server, request, signal, first.token) : first
  }

  const atOnce = createKeyedLimiter(mostAtOnce)
  const limited = <T>({ caller, waitsForSlot: waits, signal }: Waiting, work: () => Promise<T>): Promise<T> => {
    if (!waits && atOnce.isFull(caller))
      throw new ServiceError(
        'unavailable',
        `${mostAtOnce} of your requests to remote catalogs are under way; try again later.`,
      )
    return atOnce.run(caller, work, signal)
  }

  const read: RemoteClient['request'] = async (server, request, most = limits.reply) =>
    limited(request, async () => {
      const limit = AbortSignal.timeout(limits.request)
      const signal = request.signal ? AbortSignal.any([request.signal, limit]) : limit
      const { reply, secrets } = await sendWithRenewal(server, { ...request, most }, signal)
      if (!isSuccess(reply)) throw toRefusal(server, reply, secrets)
      return reply
    })

  return {
    requestJson: async (server, request) => parseReply(await read(server, request)),
    request: read,
    check: async (server, caller) =>
      limited({ caller }, async () => {
        const signal = AbortSignal.timeout(limits.check)
        const request = { caller, method: 'GET', path: '/catalog' }
        const { reply, secrets } = await sendWithRenewal(server, request, signal).catch((error: unknown) => {
          if (isFault(error, 'forbidden'))
            throw new ServiceError('invalid', error.message, { stack: [{ error: error.message, path: 'url' }] })
          throw error
        })
        if (!isSuccess(reply)) throw new ServiceError('upstream', formatFailure(server, reply, secrets))
        parseManifests(parseReply(reply))
      }),
  }
}
