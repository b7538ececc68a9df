import type * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import type { Requirement } from '#lib/access/requirement.ts'
import type { Fault } from '#lib/errors.ts'
import type { Services } from './services.ts'
import type { RangeReply } from '#lib/calls/range-reply.ts'
import type { RequestContext } from './context.ts'
import type { PreparedBody, PreparedParts } from '#lib/calls/prepared-body.ts'
import type { JobKind } from '#lib/calls/accepted-job.ts'
import type { StreamReply } from '#lib/calls/stream-reply.ts'
import type { Upgrade } from '#lib/calls/upgrade.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A path below the service's prefix `/api`, with parameters as `{name}`. */
export type Path = `/${string}`

type Shape = z.ZodType | undefined
type Parsed<S extends Shape> = S extends z.ZodType ? z.output<S> : undefined

/** The declaration of an endpoint. The steps around the handler read these fields and nothing else. */
export interface Contract<
  U extends keyof Services = keyof Services,
  R extends z.ZodType = z.ZodType,
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
  A extends Requirement = Requirement,
> {
  readonly method: Method
  readonly path: Path
  /** Other method and path pairs that reach the same handler. */
  readonly also?: readonly `${Method} ${Path}`[]
  readonly summary: string
  /** What a caller has to know beyond the summary, in whole sentences. */
  readonly description?: string
  /** Who may call. Checked before anything of the request is parsed. */
  readonly access: A
  /** `change`: the call can change something, so it is refused to HEAD, prefetching and cross-site GETs. */
  readonly effect: 'read' | 'change'
  /** The call revokes something (a session, a right) or is needed to do so. It may use the disk reserve when the disk is full. */
  readonly essential?: true
  /** A program makes the call every few seconds, so that the audit records only its refusals. */
  readonly routine?: true
  /** Refuses strangers before the body is read, on a public endpoint that knows its callers by another credential. */
  admit?(
    context: Pick<RequestContext, 'header'> & { readonly params: Parsed<P> },
    services: Pick<Services, U>,
  ): Promise<void>
  /** The services that the handler receives; it sees no others. */
  readonly uses: readonly U[]
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly reply: R
  /** Of a successful reply; 200 when left out. */
  readonly status?: 200 | 201 | 202
  /**
   * Media type of a reply that is not JSON. With `application/octet-stream` the query chooses between bytes and JSON, and the bytes
   * have ranges; with `*` for type and subtype it is always one stream of bytes.
   */
  readonly media?: 'text/plain' | 'text/event-stream' | 'application/octet-stream' | 'image/png' | '*/*' | 'websocket'
  /** Of a WebSocket: whether a request with this query is answered with text instead, and needs no upgrade. */
  textFor?(query: Parsed<Q>): boolean
  /** Faults of the call that do not follow from the other fields (see `faultsOf`). */
  readonly faults?: readonly Fault[]
  /** The reply has an ETag, which If-None-Match can name. */
  readonly hasETag?: true
  /** The handler evaluates If-Match. */
  readonly conditional?: true
  /** The reply has a Link to the next page. */
  readonly paged?: true
  /** Schemas of parts that the service forwards without parsing them. The OpenAPI document shows these instead of the ones above. */
  readonly passThrough?: { readonly query?: z.ZodType; readonly body?: z.ZodType; readonly reply?: z.ZodType }
  /** X-Filter can filter the listed items. With `handled` the handler filters, because it also paginates. */
  readonly filter?: true | 'handled'
  /** The reply holds a secret that is shown once, so it is not stored for a repeated Idempotency-Key. */
  readonly secretReply?: true
  /** The call can take long: with `Prefer: respond-async` it runs as a job. */
  readonly job?: JobKind
  /** The call acts on one machine. With `Prefer: wait=SECONDS` (RFC 7240) it waits while another operation runs on that machine. */
  readonly acceptsWait?: true
  /** The call may wait for minutes for what it reads or gets. */
  readonly waits?: true
  /** With the Idempotency-Key of a request that a crash has interrupted, the handler completes that request. */
  readonly resumable?: true
  /** Members of the query and of the body that the audit entry includes. Never a secret. A read with this is in the audit too. */
  readonly audited?: readonly string[]
  /** The token may also be in the query as `access_token` or `authorization`, because browsers cannot set headers of a WebSocket. */
  readonly tokenInQuery?: true
  /** The error of a bad request has the OAuth-style members too (spec section 7). */
  readonly oauth?: true
  /**
   * The body is bytes and no JSON, and an Idempotency-Key has no effect. With a schema `body` gets the bytes of one range of a file,
   * which Content-Range names; without one the handler reads them from `bodyStream`.
   */
  readonly bodyMedia?: 'application/octet-stream'
  /** Bytes of request body; 64 KiB when left out. */
  readonly bodyLimit?: number
}

/**
 * A request as its handler sees it: the parts that the contract has schemas for are typed, and there is a caller unless the
 * endpoint is public.
 */
type HandlerContext<P extends Shape, Q extends Shape, B extends Shape, A extends Requirement> = Readonly<
  Omit<RequestContext<Parsed<P>, Parsed<Q>, Parsed<B>>, 'caller'>
> & { readonly caller: A extends 'public' ? undefined : Principal }

/** What a handler may return: the value of the reply, or a reply that is not serialized as JSON here. */
type HandlerReply<R extends z.ZodType> = z.input<R> | PreparedBody | PreparedParts | RangeReply | StreamReply | Upgrade

/** An endpoint with its types erased: what the routing table holds. */
export interface Endpoint extends Contract {
  readonly handle: (context: RequestContext, services: Services) => unknown
}

/** One row of the routing table. `id` is the file's path below functions/; as operationId it has dots. */
export interface Route {
  readonly id: string
  readonly endpoint: Endpoint
}

/**
 * Declares an endpoint: contract first, handler second, so that TypeScript checks the handler's reply against the schema.
 * The handler returns the reply's value, or a reply that is not serialized as JSON here. It throws ServiceErrors to refuse.
 */
export const endpoint = <
  R extends z.ZodType,
  const U extends keyof Services = never,
  P extends Shape = undefined,
  Q extends Shape = undefined,
  B extends Shape = undefined,
  const A extends Requirement = Requirement,
>(
  contract: Contract<U, R, P, Q, B, A>,
) => ({
  handle: (
    handle: (
      context: HandlerContext<P, Q, B, A>,
      services: Pick<Services, U>,
    ) => HandlerReply<R> | Promise<HandlerReply<R>>,
    // The steps parse each part with its schema and set the caller before they call `handle`, so it gets what it declares.
  ): Endpoint => ({ ...contract, handle }) as unknown as Endpoint,
})
