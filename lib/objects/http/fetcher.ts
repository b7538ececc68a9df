import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { TransientError } from '#lib/async/retry.ts'
import { createMayReach } from '#lib/platform/outgoing-addresses.ts'
import type { RequestBody } from './request-body.ts'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: RequestBody | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Reply {
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/**
 * Sends one request once. Gives its reply as soon as the headers arrive, whatever the status is; redirects are not followed.
 * Throws `upstream` (`TransientError` when another attempt may succeed), `forbidden` for the address of a cloud's metadata
 * service, the error of the body, and the reason of the signal.
 */
export type Fetcher = (request: HttpRequest) => Promise<Reply>

export interface FetcherOptions {
  /** Accepts any certificate. */
  readonly ignoreCertificate?: boolean
  /**
   * Milliseconds without any traffic after which a request fails. While the reply is awaited, it is multiplied by the GiB of
   * the body. There is no timeout for the whole request.
   */
  readonly idleTimeout?: number
}

/** Creates a fetcher. Each program hands in its own: over connections of Node, or over `fetch`. */
export type CreateFetcher = (options?: FetcherOptions) => Fetcher

export const defaultIdleTimeout = 60_000

const GiB = 1024 ** 3

/** How long a reply may take to begin: some servers copy or verify the received bytes before they reply. */
export const getReplyTimeout = (idleTimeout: number, body: RequestBody): number =>
  idleTimeout * Math.max(1, Math.ceil(body.size / GiB))

// A storage may be on a private network. Metadata services, where clouds hand out credentials, are never a storage.
export const mayBeStorage = createMayReach(['0.0.0.0/0', '::/0'])

export const createMetadataAddressError = (host: string): ServiceError =>
  new ServiceError('forbidden', `${host} is the address of a cloud's metadata service, and not a storage.`)

/** Throws `forbidden` for a URL whose host is written as the address of a metadata service. */
export const checkLiteralAddress = ({ hostname }: URL): void => {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !mayBeStorage(host)) throw createMetadataAddressError(host)
}

export const createIdleError = (host: string, milliseconds: number): Error =>
  new TransientError(
    `The storage ${host} is silent: nothing came or went for ${milliseconds / 1_000} s (ETIMEDOUT).`,
    undefined,
  )
