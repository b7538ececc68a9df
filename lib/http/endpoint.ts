import type * as z from 'zod'
import type { Access } from '#lib/auth/access.ts'
import type { Principal } from '#lib/auth/principal.ts'
import type { Services } from '#lib/services.ts'
import type { Work } from '#lib/work.ts'
import type { ContentReply } from './content.ts'
import type { Encoded } from './encoded.ts'
import type { AskedFilter } from './filter.ts'
import type { JobKind } from './job-started.ts'
import type { Stream } from './stream.ts'
import type { Upgrade } from './upgrade.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A path below the service's prefix `/api`, with parameters as `{name}`. */
export type Path = `/${string}`

type Shape = z.ZodType | undefined
type Parsed<S extends Shape> = S extends z.ZodType ? z.output<S> : undefined

/** All that is declared of an endpoint. The cross-cutting steps of `app.ts` are driven by these fields alone. */
export interface Contract<
  U extends keyof Services = keyof Services,
  R extends z.ZodType = z.ZodType,
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
> {
  readonly method: Method
  readonly path: Path
  /** Other method and path pairs that reach the same handler. */
  readonly also?: readonly `${Method} ${Path}`[]
  readonly summary: string
  /** Who may call. Checked before anything of the request is parsed. */
  readonly access: Access
  /** `change`: the call can change something, so it is refused to HEAD, prefetching and cross-site GETs. */
  readonly effect: 'read' | 'change'
  /** The services that the handler receives; it sees no others. */
  readonly uses: readonly U[]
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly reply: R
  /** Of a successful reply; 200 when left out. */
  readonly status?: 200 | 201 | 202
  /** The reply is a list that the header X-Filter can narrow; `handled` by the handler, which makes pages of what is left. */
  readonly filter?: true | 'handled'
  /** The reply holds a secret that is shown once: it is not kept for a repeated Idempotency-Key. */
  readonly secretReply?: true
  /** The call can be long: who prefers not to wait for it gets a job. */
  readonly job?: JobKind
  /** Members of the body that the audit tells: what was asked for, never a secret. */
  readonly audited?: readonly string[]
  /** The token may also come as `access_token` or `authorization` in the query: browsers give a WebSocket no headers. */
  readonly tokenInQuery?: true
  /** A bad request is told in the OAuth-style shape too (spec section 7). */
  readonly oauth?: true
  /** Bytes of request body; 64 KiB when left out. */
  readonly bodyLimit?: number
}

export interface Call<P extends Shape = Shape, Q extends Shape = Shape, B extends Shape = Shape> {
  readonly params: Parsed<P>
  readonly query: Parsed<Q>
  readonly body: Parsed<B>
  /** Who calls; on a public endpoint nobody is looked up. */
  readonly caller: Principal | undefined
  /** The raw value of `Authorization: Bearer`, for the endpoints that are about tokens. */
  readonly bearer: string | undefined
  /** Tells the audit who somebody is that nobody was looked up for: sign-in finds out by itself. */
  readonly identified: (who: Pick<Principal, 'id' | 'username'>) => void
  /** Who the caller's credential stands for by now. Throws `unauthenticated` when for nobody any more. */
  readonly again: () => Promise<Principal>
  /** What X-Filter asks for, where the handler narrows its list itself. */
  readonly filter: AskedFilter | undefined
  /** The tags of the header If-Match; undefined where any will do. */
  readonly ifMatch: () => readonly string[] | undefined
  /** The header Last-Event-ID, for streams that go on. */
  readonly lastEventId: () => string | undefined
  /** The caller's IP address. */
  readonly address: string
  /** Aborted when the caller goes away. */
  readonly signal: () => AbortSignal
  /** Follows what the handler does, where it is done as a job. */
  readonly work: Work
}

/** What a handler may return: the reply's value, or what stands for a reply that is no JSON of this moment. */
type Answer<R extends z.ZodType> = z.input<R> | Encoded | ContentReply | Stream | Upgrade

/** An endpoint with its types erased: what the routing table holds. */
export interface Endpoint extends Contract {
  readonly handle: (call: Call<z.ZodType, z.ZodType, z.ZodType>, services: Services) => unknown
}

/** One row of the routing table. `id` is the file's path below functions/, and the operation's name everywhere. */
export interface Route {
  readonly id: string
  readonly endpoint: Endpoint
}

/**
 * Declares an endpoint: contract first, handler second, so that TypeScript holds the handler's reply to the schema.
 * The handler returns the reply's value, an `Encoded`, a `ContentReply`, a `Stream` or an `Upgrade`; it throws ServiceErrors to refuse.
 */
export const endpoint = <
  R extends z.ZodType,
  const U extends keyof Services = never,
  P extends Shape = undefined,
  Q extends Shape = undefined,
  B extends Shape = undefined,
>(
  contract: Contract<U, R, P, Q, B>,
) => ({
  handle: (handle: (call: Call<P, Q, B>, services: Pick<Services, U>) => Answer<R> | Promise<Answer<R>>): Endpoint =>
    ({ ...contract, handle }) as unknown as Endpoint,
})
