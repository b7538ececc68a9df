import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { SignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import type { HostTable } from '../host-table.ts'
import { describeSilence, isUnreachable, type StoredHost } from '../stored-host.ts'
import { readLimited } from './read-limited.ts'

/** A request to a host. */
export interface HostRequest {
  readonly method: string
  /** The path as it is served, with encoded segments. */
  readonly path: string
  readonly query?: URLSearchParams
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the request, because nobody waits for the reply any more. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that the host has for the reply. */
  readonly timeout: number
  /** The most bytes of the reply; 16 MiB when left out. */
  readonly maxReplyBytes?: number
}

/** The reply of a host, whatever its status. */
export interface HostReply {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON; undefined for an empty reply. */
  readonly body: unknown
}

/**
 * Sends a request to a host for a user. The user's rights go with it. Throws `unavailable` when the host does not answer, `timeout`
 * when it answers too late, and `upstream` when it answers with something else than JSON.
 */
export type AskHost = (host: StoredHost, user: Principal, request: HostRequest) => Promise<HostReply>

/** The part of `fetch` that requests to hosts use. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

interface Options {
  readonly table: Pick<HostTable, 'reportSilence'>
  readonly fetch: Fetch
  readonly sign: SignAssertion
}

/** The error for a host that does not answer. It names the host and says what to do. */
const createHostDownError = (host: StoredHost, cause?: unknown): ServiceError =>
  new ServiceError(
    'unavailable',
    `The ${describeSilence(host)}. Start vmhost there and check the network to ${host.url}, or use another host with ?host=NAME.`,
    { cause },
  )

/** The most bytes of a reply. All of it is in memory for a moment. */
const mostReplyBytes = 16 * 1024 * 1024

/** Creates the function that sends requests to hosts. */
export const createAskHost =
  ({ table, fetch, sign }: Options): AskHost =>
  async (host, user, { method, path, query, body, headers, signal, timeout, maxReplyBytes = mostReplyBytes }) => {
    if (isUnreachable(host)) throw createHostDownError(host)
    const assertion = await sign(user, host.id)
    const timeLimit = AbortSignal.timeout(timeout)
    const search = query && query.size > 0 ? `?${query}` : ''
    try {
      const response = await fetch(`${host.url}${path}${search}`, {
        method,
        headers: {
          Accept: 'application/json',
          Authorization: `Bearer ${assertion}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeLimit]) : timeLimit,
      })
      const { status, headers: replyHeaders } = response
      return { status, headers: replyHeaders, body: await readLimited(response, host.name, maxReplyBytes) }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof ServiceError) throw error
      table.reportSilence(host.id)
      if (timeLimit.aborted)
        throw new ServiceError(
          'timeout',
          `The host ${host.name} did not answer within ${timeout / 1000} seconds. See there whether the request was done.`,
          { cause: error },
        )
      throw createHostDownError(host, error)
    }
  }
