import { type Authenticate, type Credential, isApiKey } from '#lib/access/credential.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { SessionReference } from '#lib/access/session-reference.ts'
import { ServiceError } from '#lib/errors.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import type { Route } from './endpoint.ts'
import type { ParsedFilter } from '#lib/calls/list-filter.ts'
import { parseIfMatch } from './if-match.ts'
import { formatSessionCookie, readSessionCookie } from './session-cookie.ts'
import type { Upgrade } from '#lib/calls/upgrade.ts'

const bearerPrefix = 'bearer '

/** The value of an Authorization header. Sliced rather than matched: a token has thousands of characters and comes with every request. */
const readBearer = (header: string | null): string | undefined => {
  if (header === null || header.slice(0, bearerPrefix.length).toLowerCase() !== bearerPrefix) return undefined
  return header.slice(bearerPrefix.length).trim() || undefined
}

/**
 * One request, from its transport to its handler. The transport reads each part of the request when it is needed; the steps
 * before the handler set the other members.
 */
export abstract class RequestContext<P = unknown, Q = unknown, B = unknown> implements Credential {
  readonly method: string
  /** The caller's IP address. */
  readonly address: string
  /** Undefined when no route matches the path. */
  route: Route | undefined
  /** From the router as text, then parsed. */
  params: P
  // The steps before the handler parse them; the handler of an endpoint without them does not see them.
  query = undefined as Q
  body = undefined as B
  /** Undefined on public endpoints: they do not authenticate. */
  caller: Principal | undefined = undefined
  /** The user that sign-in identified, for the audit: a public endpoint has no caller. */
  actor: Pick<Principal, 'id' | 'username'> | undefined = undefined
  /** The parsed X-Filter header, for handlers that filter their list themselves. */
  filter: ParsedFilter | undefined = undefined
  /** Reports the handler's progress when it runs as a job. */
  progress: ProgressReporter = noProgress
  /** The preferences that were honored (`Preference-Applied`, RFC 7240). */
  preferenceApplied: string | undefined = undefined
  authenticate: Authenticate | undefined = undefined
  /** The Set-Cookie header of the reply. */
  setCookie: string | undefined = undefined
  /** The session of the ticket in the query, which is used up. */
  session: SessionReference | undefined = undefined

  constructor(method: string, address: string, matched?: { readonly route: Route; readonly params: unknown }) {
    this.method = method
    this.address = address
    this.route = matched?.route
    // Text first, until its step has parsed it.
    this.params = matched?.params as P
  }

  /** Returns the route. Throws an Error before a route has matched. */
  requireRoute(): Route {
    if (this.route) return this.route
    throw new Error('No route has matched this request.')
  }

  /** Returns the caller. Throws an Error at public endpoints, which do not authenticate. */
  requireCaller(): Principal {
    if (this.caller) return this.caller
    throw new Error('This request was not authenticated.')
  }

  /** The value of a header. `name` is in lower case. Repeated headers are joined as in `Headers`. */
  abstract header(name: string): string | null
  /** The query parameters. */
  abstract searchParams(): URLSearchParams
  /** The bytes of the body. Throws `too-large` above `limit` and `invalid` when the body ends early. */
  abstract readBytes(limit: number): Promise<Uint8Array>
  /** Aborted when the client disconnects. */
  abstract get signal(): AbortSignal

  /** The request came over TLS, to the service itself or to the proxy in front of it. */
  protected get isEncrypted(): boolean {
    return false
  }

  get #isSecure(): boolean {
    return this.isEncrypted || this.header('x-forwarded-proto') === 'https'
  }

  get connection(): object | undefined {
    return undefined
  }

  /** The bytes of the body as they come, for an endpoint with `bodyMedia` and no `body`. Throws `invalid` when the body ends early. */
  bodyStream(): AsyncIterable<Uint8Array> {
    throw new Error('This request has no body that could be streamed.')
  }

  get changes(): boolean {
    return this.route?.endpoint.effect === 'change'
  }

  /** Receives the `Upgrade` of a WebSocket request; undefined for any other request. */
  get acceptUpgrade(): ((upgrade: Upgrade) => void) | undefined {
    return undefined
  }

  /** The raw token. */
  get bearer(): string | undefined {
    const header = this.header('authorization') ?? (this.route?.endpoint.tokenInQuery ? this.#queryToken() : null)
    if (header === null) return this.#cookieToken()
    const value = readBearer(header)
    return value !== undefined && isApiKey(value) ? undefined : value
  }

  /** The token of the session cookie. A GET that changes something never gets its right from a cookie. */
  #cookieToken(): string | undefined {
    if (this.apiKey !== undefined || !this.isFromConsole) return undefined
    if (this.changes && (this.method === 'GET' || this.method === 'HEAD')) return undefined
    return readSessionCookie(this.header('cookie'), this.#isSecure)
  }

  /** Whether the web console sent the request. A page of another site cannot set this header. */
  get isFromConsole(): boolean {
    return this.header('x-vmhost-console') !== null
  }

  /** Keeps the token in a cookie of the browser until `expiresAt` (seconds since 1970); undefined removes the cookie. */
  get keepSession(): (session: { readonly token: string; readonly expiresAt: number } | undefined) => void {
    return session => void (this.setCookie = formatSessionCookie(session, this.#isSecure))
  }

  /** The token from the query, where browsers put it, in the form of the Authorization header. */
  #queryToken(): string | null {
    const query = this.searchParams()
    const token = query.get('access_token') ?? query.get('authorization')?.replace(/^bearer /i, '')
    return token ? `Bearer ${token}` : null
  }

  get apiKey(): string | undefined {
    const value = readBearer(this.header('authorization'))
    return value !== undefined && isApiKey(value) ? value : (this.header('x-api-key') ?? undefined)
  }

  /** The credentials of the request. */
  get credential(): Credential {
    return { session: this.session, bearer: this.bearer, apiKey: this.apiKey }
  }

  /** The tags of the If-Match header; undefined when any version will do. */
  get ifMatch(): readonly string[] | undefined {
    return parseIfMatch(this.header('if-match'))
  }

  /** The Last-Event-ID header: the last event that a reconnecting client has seen. */
  get lastEventId(): string | undefined {
    return this.header('last-event-id') ?? undefined
  }

  /** Names the acting user for the audit, on endpoints that do not authenticate. */
  get setActor(): (actor: Pick<Principal, 'id' | 'username'>) => void {
    return actor => void (this.actor = actor)
  }

  /** Authenticates the caller's credential again. Throws `unauthenticated` when it is no longer valid. */
  get reauthenticate(): () => Promise<Principal> {
    const { authenticate } = this
    const credential = { ...this.credential, admittedAt: Date.now() }
    if (!authenticate)
      return async () => {
        throw new ServiceError('unauthenticated', 'This request was not authenticated.')
      }
    return async () => {
      const principal = await authenticate(credential)
      if (principal) return principal
      throw new ServiceError('unauthenticated', 'The credential of this request is no longer valid.')
    }
  }
}
