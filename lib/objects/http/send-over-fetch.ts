import { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import { toCodedError } from '#lib/platform/fetch-errors.ts'
import { createFetchBody } from './fetch-body.ts'
import {
  checkLiteralAddress,
  type CreateFetcher,
  defaultIdleTimeout,
  getReplyTimeout,
  type HttpRequest,
  type Reply,
} from './fetcher.ts'
import { createTransportError } from './http-errors.ts'
import { createIdleWatch, type IdleWatch } from './idle-watch.ts'
import { trackBody } from './request-body.ts'

/** Gives the body of a response as a stream of Node, which providers read. `end` gives the request up. */
const toReadable = (body: ReadableStream<Uint8Array> | null, watch: IdleWatch, end: () => void): Readable => {
  if (!body) return Readable.from([])
  const reader = body.getReader()
  const readable = new Readable({
    // A large buffer lets bytes arrive while earlier ones are processed.
    highWaterMark: 1024 * 1024,
    read() {
      watch.wait(reader.read()).then(
        ({ done, value }) => readable.push(done ? null : value),
        (error: unknown) => readable.destroy(toError(error)),
      )
    },
    destroy(error, done) {
      end()
      done(error)
    },
  })
  return readable
}

const toError = (error: unknown): Error => {
  const coded = toCodedError(error)
  return coded instanceof Error ? coded : new Error('The reply broke off.', { cause: error })
}

/**
 * Creates a fetcher over `fetch`, for programs without connections of Node. What a name leads to is the platform's to check.
 * Throws `unsupported` for `ignoreCertificate`, because `fetch` verifies every certificate.
 */
export const createFetchFetcher: CreateFetcher = ({
  ignoreCertificate = false,
  idleTimeout = defaultIdleTimeout,
} = {}) => {
  if (ignoreCertificate)
    throw new ServiceError('unsupported', 'This service verifies every certificate; leave ignore_cert out.')
  return async ({ method, url, headers, body, signal }: HttpRequest): Promise<Reply> => {
    signal?.throwIfAborted()
    checkLiteralAddress(url)
    const source = body && body.size > 0 ? trackBody(body) : undefined
    const aborting = new AbortController()
    // The caller's signal and the idle watch abort the request, and with it the reading of the reply.
    const abort = (): void => aborting.abort(new Error('the request was aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    const end = (): void => {
      signal?.removeEventListener('abort', abort)
      abort()
    }
    const watch = createIdleWatch(url.host, idleTimeout, abort)
    const { headers: bodyHeaders, ...init } = createFetchBody(
      source ? watch.watchBody(source, getReplyTimeout(idleTimeout, source.body)) : body,
    )
    try {
      const response = await watch.wait(
        fetch(url, {
          method,
          headers: { 'Accept-Encoding': 'identity', ...headers, ...bodyHeaders },
          ...init,
          signal: aborting.signal,
          redirect: 'manual',
        }),
      )
      return {
        url,
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: toReadable(response.body, watch, end),
      }
    } catch (error) {
      end()
      signal?.throwIfAborted()
      const failure = source?.sourceError()
      throw failure ? failure.error : createTransportError(url.host, toCodedError(error))
    }
  }
}
