import { isFault, ServiceError } from '#lib/errors.ts'
import { type SendOutgoing, type OutgoingReply, waitUntilAborted } from '#lib/platform/outgoing-request.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { toServiceUrl } from './service-url.ts'
import { parseReply } from './parse-reply.ts'
import { parseManifests } from './manifest-replies.ts'
import type { RemoteServer } from './server.ts'
import { createTokenSource } from './remote-tokens.ts'
import { formatFailure, isSuccess, toRefusal } from './error-mapping.ts'

/** A request to another service. */
export interface RemoteRequest {
  /** The id of the user who causes the request. */
  readonly caller: string
  readonly method: string
  /** The path below `/api/v1`, with encoded segments. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** If the caller has too many requests, this one waits for a free slot instead of failing. For transfers, which send many. */
  readonly waitsForSlot?: boolean
}

type LimitedRequest = Pick<RemoteRequest, 'caller' | 'signal' | 'waitsForSlot'>

/** Sends requests to other services with a catalog, with the credentials of each. */
export interface RemoteClient {
  /**
   * Sends a request and gives the reply as data. Throws the remote service's refusal if it is about the request, `upstream`
   * for any other failure of that service, `timeout`, `forbidden` when its address may not be reached, and `unavailable` when
   * the caller has too many requests under way.
   */
  requestJson(server: RemoteServer, request: RemoteRequest): Promise<unknown>
  /** Sends a request and gives the successful reply, of at most `maxBytes` bytes. Throws as `requestJson`. */
  request(server: RemoteServer, request: RemoteRequest, maxBytes?: number): Promise<OutgoingReply>
  /** Checks a server: lists its catalog. Throws `invalid` for an address that may not be reached, else `upstream` and `timeout`. */
  check(server: RemoteServer, caller: string): Promise<void>
}

/** The most requests of one caller at the same time, because each can hold a whole reply in memory for long. */
const maxConcurrentRequests = 8

export interface RemoteLimits {
  /** Milliseconds that the check of a server may take. */
  readonly checkTimeout: number
  /** Milliseconds that a sign-in may take. A busy service hashes passwords one after the other. */
  readonly signInTimeout: number
  /** Milliseconds that a request may take. */
  readonly requestTimeout: number
  /** Bytes of a reply. */
  readonly maxReplyBytes: number
}

export const defaultLimits: RemoteLimits = {
  checkTimeout: 10_000,
  signInTimeout: 30_000,
  requestTimeout: 300_000,
  maxReplyBytes: 32 * 1024 * 1024,
}

export const createRemoteClient = (outgoing: SendOutgoing, limits: RemoteLimits): RemoteClient => {
  const getToken = createTokenSource(outgoing, limits.signInTimeout)

  /** Sends a request once. `refusedToken` is a token that the server does not accept any more. `secrets` are all that were sent. */
  const send = async (
    server: RemoteServer,
    { method, path, query = {}, body, headers = {} }: RemoteRequest,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
    refusedToken?: string,
  ) => {
    const apiKey = server.api_key
    const url = toServiceUrl(server, path)
    const signsIn = apiKey === undefined && server.username !== undefined
    const token = signsIn ? await waitUntilAborted(signal, url.hostname, getToken(server, refusedToken)) : undefined
    url.search = new URLSearchParams(query).toString()
    const reply = await outgoing({
      method,
      url,
      headers: {
        ...headers,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(apiKey !== undefined && { 'X-Api-Key': apiKey }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      maxReplyBytes: maxBytes,
    })
    return { reply, token, secrets: [apiKey, token, server.password].filter(secret => secret !== undefined) }
  }

  const sendWithRenewal = async (
    server: RemoteServer,
    request: RemoteRequest,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ) => {
    const first = await send(server, request, options)
    // A token may expire early. The server has refused the request, so it can be sent again.
    return first.reply.status === 401 && first.token !== undefined ? send(server, request, options, first.token) : first
  }

  const limiter = createKeyedLimiter(maxConcurrentRequests)
  const runLimited = <T>({ caller, waitsForSlot, signal }: LimitedRequest, work: () => Promise<T>): Promise<T> => {
    if (!waitsForSlot && limiter.isFull(caller))
      throw new ServiceError(
        'unavailable',
        `${maxConcurrentRequests} of your requests to remote catalogs are under way; try again later.`,
      )
    return limiter.run(caller, work, signal)
  }

  const request: RemoteClient['request'] = async (server, remoteRequest, maxBytes = limits.maxReplyBytes) =>
    runLimited(remoteRequest, async () => {
      const timeout = AbortSignal.timeout(limits.requestTimeout)
      const signal = remoteRequest.signal ? AbortSignal.any([remoteRequest.signal, timeout]) : timeout
      const { reply, secrets } = await sendWithRenewal(server, remoteRequest, { maxBytes, signal })
      if (!isSuccess(reply)) throw toRefusal(server, reply, secrets)
      return reply
    })

  return {
    requestJson: async (server, remoteRequest) => parseReply(await request(server, remoteRequest)),
    request,
    check: async (server, caller) =>
      runLimited({ caller }, async () => {
        const listRequest = { caller, method: 'GET', path: '/catalog' }
        const options = { maxBytes: limits.maxReplyBytes, signal: AbortSignal.timeout(limits.checkTimeout) }
        const { reply, secrets } = await sendWithRenewal(server, listRequest, options).catch((error: unknown) => {
          if (isFault(error, 'forbidden'))
            throw new ServiceError('invalid', error.message, { stack: [{ error: error.message, path: 'url' }] })
          throw error
        })
        if (!isSuccess(reply)) throw new ServiceError('upstream', formatFailure(server, reply, secrets))
        parseManifests(parseReply(reply))
      }),
  }
}
