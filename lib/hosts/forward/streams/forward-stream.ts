import { toStream } from '#lib/async/to-stream.ts'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { ServiceError } from '#lib/errors.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { StoredHost } from '../../stored-host.ts'
import type { CheckReply } from '../checked-reply.ts'
import type { ForwardedRequest } from '../forwarded-request.ts'
import { readHostReply } from '../host-client.ts'
import { toHostRefusal, unwrapReply } from '../host-refusal.ts'
import type { SendToHost } from '../send-to-host.ts'
import { passBody } from './pass-body.ts'
import type { WatchedStream, WatchedStreams } from './watched-streams.ts'

/** The member of a response by which the edge's runtime gives the WebSocket that a server has accepted. */
interface SocketResponse extends Response {
  readonly webSocket?: object | null
}

interface Options {
  readonly send: SendToHost
  readonly streams: WatchedStreams
  readonly check: CheckReply
}

/**
 * Passes on a request whose body or reply is a stream: bytes of a file, a text that may be long, or a WebSocket. Neither is held in
 * memory, and neither side is read faster than the other one takes it. The stream ends as `WatchedStreams` says.
 */
export type ForwardStream = (
  route: Route,
  context: RequestContext,
  host: StoredHost,
  request: ForwardedRequest,
) => Promise<unknown>

/** Milliseconds that a host has to begin its reply, if it does not read a stream before. */
const startTimeout = 30_000
/** The headers of a stream that mean the same to the caller. */
const passedHeaders = ['content-length', 'repr-digest', 'x-console-offset', 'x-console-end']
/** Types of content that no browser takes for a page. Any other content is bytes. */
const passiveTypes = /^(application\/octet-stream|text\/plain(; ?charset=utf-8)?|image\/(png|jpeg|x-portable-pixmap))$/i

/** Whether the body of a route's requests is a stream that the handler reads. */
const hasStreamedBody = ({ endpoint: { bodyMedia, body } }: Route): boolean => bodyMedia !== undefined && !body

/** Whether requests to a route pass as streams. */
export const isStreamed = (route: Route): boolean => route.endpoint.media !== undefined || hasStreamedBody(route)

const toStreamReply = (response: Response, watched: WatchedStream): StreamReply => {
  const type = response.headers.get('content-type') ?? ''
  const headers = passedHeaders.flatMap(name => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return new StreamReply(
    passiveTypes.test(type) ? type : 'application/octet-stream',
    passBody(response, watched),
    Object.fromEntries(headers),
  )
}

/** Gives the client the WebSocket of the host. The runtime passes its messages on, and no program sees them. */
const toUpgrade = (socket: object, watched: WatchedStream): Upgrade =>
  new Upgrade(handshake => {
    if (handshake.passOn && !handshake.isGone()) return handshake.passOn(socket)
    watched[Symbol.dispose]()
    handshake.refuse(501, 'This program passes on no WebSockets.')
  })

export const createForwardStream = ({ send, streams, check }: Options): ForwardStream => {
  /** Sends the request. The host has a limited time to begin its reply, unless it reads a stream before. */
  const start = async (
    context: RequestContext,
    host: StoredHost,
    { method, path, query, headers }: ForwardedRequest,
    watched: WatchedStream,
    body?: ReadableStream<Uint8Array>,
  ) => {
    const text = `The host ${host.name} did not answer within ${startTimeout / 1000} seconds.`
    const timer = body ? undefined : setTimeout(() => watched.fail(new ServiceError('timeout', text)), startTimeout)
    try {
      return await send(host, context.requireCaller(), {
        method,
        path,
        query,
        headers: { ...headers, ...(context.acceptUpgrade ? { Upgrade: 'websocket' } : { Accept: '*/*' }) },
        body,
        signal: watched.signal,
      })
    } catch (error) {
      throw watched.failure() ?? error
    } finally {
      clearTimeout(timer)
    }
  }
  const run = async (
    route: Route,
    context: RequestContext,
    host: StoredHost,
    request: ForwardedRequest,
    watched: WatchedStream,
  ): Promise<unknown> => {
    if (hasStreamedBody(route)) {
      const body = toStream(context.bodyStream())
      const { response } = await start(context, host, request, watched, body)
      return check(route, host, unwrapReply(host, await readHostReply(host, response)))
    }
    const { response, assertion } = await start(context, host, request, watched)
    const { webSocket }: SocketResponse = response
    if (webSocket) {
      watched.setAssertion(assertion)
      return toUpgrade(webSocket, watched)
    }
    if (!response.ok || context.acceptUpgrade) throw toHostRefusal(host, await readHostReply(host, response))
    return toStreamReply(response, watched)
  }
  return async (route, context, host, request) => {
    const watched = streams.open(context, host)
    try {
      const reply = await run(route, context, host, request, watched)
      if (!(reply instanceof Upgrade) && !(reply instanceof StreamReply)) watched[Symbol.dispose]()
      return reply
    } catch (error) {
      watched[Symbol.dispose]()
      throw error
    }
  }
}
