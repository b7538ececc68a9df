import type { Principal } from '#lib/access/principal.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { parseJsonReply, readReply } from '#lib/calls/received-reply.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'
import { createHostDownError, type SendToHost } from './send-to-host.ts'

/** A request to a host. */
export interface HostRequest {
  readonly method: string
  /** The path as it is served, with encoded segments. */
  readonly path: string
  readonly query?: URLSearchParams
  /** Bytes are sent as they are, anything else as JSON. */
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

interface Options {
  readonly table: Pick<HostTable, 'reportSilence'>
  readonly send: SendToHost
}

/** The most bytes of a reply, and of all replies of one host that are in memory at the same time. */
const defaultMaxReplyBytes = 16 * 1024 * 1024
/** The most values in a reply: a host has thousands of machines, and all hosts are listed together. */
const maxValues = 500_000

/** The bytes that a reply takes of the share of its host: what it says, or else what it may have. */
const findSize = ({ headers }: Response, maxBytes: number): number => {
  const length = headers.get('content-encoding') === null ? headers.get('content-length') : null
  return length === null ? maxBytes : Math.min(Number(length) || 0, maxBytes)
}

const serialize = (body: unknown): string | Uint8Array<ArrayBuffer> | undefined => {
  if (body === undefined) return undefined
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

/** Reads the reply of a host, of at most `maxBytes`, as JSON. Throws `upstream`. */
export const readHostReply = async (
  { name }: StoredHost,
  { status, headers, body }: Response,
  maxBytes = defaultMaxReplyBytes,
): Promise<HostReply> => {
  const sender = `the host ${name}`
  return { status, headers, body: parseJsonReply(sender, await readReply(sender, body, maxBytes), maxValues) }
}

/** Creates the function that asks hosts. */
export const createAskHost = ({ table, send }: Options): AskHost => {
  // A host that sends much or slowly has its own replies wait, and those of no other.
  const shares = createKeyedLimiter(defaultMaxReplyBytes)
  return async (
    host,
    user,
    { method, path, query, body, headers, signal, timeout, maxReplyBytes = defaultMaxReplyBytes },
  ) => {
    const sent = serialize(body)
    // A Durable Object has a limited number of timers, so none stays after the reply.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeout)
    const ended = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    const contentType = typeof sent === 'string' ? 'application/json' : 'application/octet-stream'
    try {
      const { response } = await send(host, user, {
        method,
        path,
        query,
        headers: { Accept: 'application/json', ...(sent !== undefined && { 'Content-Type': contentType }), ...headers },
        body: sent,
        signal: ended,
      })
      const share = findSize(response, maxReplyBytes)
      return await shares.run(host.id, () => readHostReply(host, response, maxReplyBytes), ended, share)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof ServiceError) throw error
      table.reportSilence(host.id)
      if (!late.signal.aborted) throw createHostDownError(host, error)
      throw new ServiceError(
        'timeout',
        `The host ${host.name} did not answer within ${timeout / 1000} seconds. See there whether the request was done.`,
        { cause: error },
      )
    } finally {
      clearTimeout(timer)
    }
  }
}
