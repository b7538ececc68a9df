import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import { nonceHeader } from '#lib/auth/assertions/assertion.ts'
import type { SignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import { createClient } from '#lib/client/client.ts'
import type { ClientOptions } from '#lib/client/types.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HostTable } from '../host-table.ts'
import { describeSilence, isUnreachable, type StoredHost } from '../stored-host.ts'

/** A request to a host as it goes over the network. */
export interface SentRequest {
  readonly method: string
  /** The path as it is served, with encoded segments. */
  readonly path: string
  readonly query?: URLSearchParams | undefined
  /** A stream can be sent only once, so its assertion must be right at the first attempt. */
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The response of a host, whatever its status, and the id of the assertion under which the request was sent. */
export interface SentReply {
  readonly response: Response
  readonly assertion: string
}

/**
 * Sends a request to a host for a user, with an assertion of the user's rights. Throws `unavailable` when the host does not answer, and
 * the reason of the signal when that is aborted.
 */
export type SendToHost = (host: StoredHost, user: Principal, request: SentRequest) => Promise<SentReply>

/** The part of `fetch` that requests to hosts use. */
export type Fetch = NonNullable<ClientOptions['fetch']>

interface Options {
  readonly table: Pick<HostTable, 'reportSilence'>
  readonly fetch: Fetch
  readonly sign: SignAssertion
}

/** The error for a host that does not answer. It names the host and says what to do. */
export const createHostDownError = (host: StoredHost, cause?: unknown): ServiceError =>
  new ServiceError(
    'unavailable',
    `The ${describeSilence(host)}. Start vmhost there and check the network to ${host.url}, or use another host with ?host=NAME.`,
    { cause },
  )

const createRestartedError = ({ name }: StoredHost): ServiceError =>
  new ServiceError('unavailable', `The host ${name} has started again meanwhile. Nothing was done; send this again.`, {
    headers: { 'Retry-After': '1' },
  })

/**
 * The nonces of the present runs of hosts. A heartbeat tells it, and the refusal of an assertion for another run, whichever came
 * later.
 */
const createNonces = () => {
  const learned = new Map<string, { readonly nonce: string; readonly at: number }>()
  return {
    find({ id, nonce, heard_at: heardAt = 0 }: StoredHost): string | undefined {
      const newest = learned.get(id)
      return newest && (nonce === undefined || newest.at >= heardAt) ? newest.nonce : nonce
    },
    /** Returns true if a host has refused an assertion because it is for another run than the present one, which is known now. */
    learn({ id }: StoredHost, used: string | undefined, { status, headers }: Response): boolean {
      const nonce = headers.get(nonceHeader)
      if (status !== 401 || nonce === null || !z.uuid().safeParse(nonce).success || nonce === used) return false
      learned.set(id, { nonce, at: Date.now() })
      return true
    },
  }
}

/** Creates the function that sends requests to hosts. */
export const createSendToHost = ({ table, fetch, sign }: Options): SendToHost => {
  const nonces = createNonces()
  return async (host, user, { query, ...request }) => {
    if (isUnreachable(host)) throw createHostDownError(host)
    const { body, signal } = request
    const sendOnce = async (nonce: string | undefined): Promise<SentReply> => {
      const assertion = crypto.randomUUID()
      const signed = body instanceof ReadableStream ? undefined : body
      const token = await sign(user, host.id, { id: assertion, body: signed, nonce })
      // An assertion is for one request, and the caller of this service decides about repetitions.
      const { send } = createClient({ url: host.url, token, retries: 0, fetch })
      return { response: await send({ ...request, query: query && Object.fromEntries(query) }), assertion }
    }
    try {
      const nonce = nonces.find(host)
      const first = await sendOnce(nonce)
      if (!nonces.learn(host, nonce, first.response)) return first
      await first.response.body?.cancel()
      if (body instanceof ReadableStream) throw createRestartedError(host)
      return await sendOnce(nonces.find(host))
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (error instanceof ServiceError) throw error
      table.reportSilence(host.id)
      throw createHostDownError(host, error)
    }
  }
}
