import { ReadableStream as Streams } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createIdleWatch, type IdleWatch } from './idle-watch.ts'

/** What is sent: opened anew for every attempt. */
export interface RequestBody {
  /** Bytes. */
  readonly size: number
  open(): AsyncIterable<Uint8Array>
}

/** Bytes in memory as a body. */
export const bodyOfBytes = (bytes: Uint8Array): RequestBody => ({
  size: bytes.byteLength,
  async *open() {
    yield bytes
  },
})

export const bodyOfText = (text: string): RequestBody => bodyOfBytes(Buffer.from(text))

export interface Call {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  /** Headers that open this server, and that no other one may see. */
  readonly credentials?: Readonly<Record<string, string>> | undefined
  readonly body?: RequestBody | undefined
  readonly signal?: AbortSignal | undefined
}

/** The answer of a storage, whatever its status is. Its body has to be read to the end or cancelled. */
export interface Reply {
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array>
}

/** Sends a request; throws `upstream` when there is no answer, and the error of the body that could not be read. */
export type Send = (url: URL, call: Call) => Promise<Reply>

/** Milliseconds. */
export interface Limits {
  /**
   * After which a request of which nothing moves is given up; so long for each GiB that was sent, before the answer.
   * There is no limit for one that moves.
   */
  readonly idle: number
  /** Before the second attempt, about; twice as long before each that follows. */
  readonly pause: number
}

export const usualLimits: Limits = { idle: 60_000, pause: 300 }

const attempts = 6
const gibibyte = 1024 ** 3
const longestPause = 60_000

/** A failure that may be over the next time; `after`: milliseconds that the server asks to wait. */
class PassingError extends ServiceError {
  readonly after: number | undefined

  constructor(message: string, details: { cause?: unknown; after?: number | undefined } = {}) {
    super('upstream', message, details)
    this.after = details.after
  }
}

const passingStatuses = new Set([408, 429, 500, 502, 503, 504])

/** Causes that no second attempt removes: names that nobody knows, and certificates. */
const lasting = /^(ENOTFOUND|ERR_|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH)/

const untrusted = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/

/** `Retry-After` in seconds or as a date (RFC 9110 10.2.3), as milliseconds from `now`. */
const retryAfter = (headers: Headers, now = Date.now()): number | undefined => {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

/** Does something again, after longer and longer pauses, as long as it fails in a way that may pass. */
export const retry = async <T>(run: () => Promise<T>, { pause }: Limits, signal?: AbortSignal): Promise<T> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      signal?.throwIfAborted()
      return await run()
    } catch (error) {
      if (!(error instanceof PassingError) || attempt === attempts) throw error
      const usual = pause * 2 ** (attempt - 1) * (0.5 + Math.random())
      // What ends the pause early is seen at the next attempt.
      await sleep(Math.min(Math.max(usual, error.after ?? 0), longestPause), undefined, signal && { signal }).catch(
        () => undefined,
      )
    }
}

/** As a stream that reads no further than it is read. */
export const streamOf = (bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> =>
  Streams.from(bytes) as ReadableStream<Uint8Array>

/** A source that is watched: while its own bytes are awaited the server is not to blame. */
async function* watched(body: RequestBody, watch: IdleWatch, failed: (error: unknown) => void) {
  watch.rest()
  try {
    for await (const chunk of body.open()) {
      watch.begin()
      yield chunk
      watch.rest()
    }
    // Some servers copy what has come, or read it again, before they answer.
    watch.begin(Math.ceil(body.size / gibibyte))
  } catch (error) {
    failed(error)
    throw error
  }
}

/**
 * Sends requests to a storage, once each; `name` stands for it in messages, which never have a path or a header of a
 * request. Statuses that may pass (429, 503 and their like) are thrown for `retry`.
 */
export const createRequest =
  (name: string, { idle }: Limits): Send =>
  async (url, { method, headers, credentials, body, signal }) => {
    const watch = createIdleWatch(idle)
    const source: { error?: unknown } = {}
    const failure = (what: string, error: unknown): unknown => {
      if (signal?.aborted) return signal.reason
      if ('error' in source) return source.error
      if (watch.signal.aborted) return new PassingError(`${name} ${what}: nothing came or went for ${idle / 1000} s.`)
      const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? messageOf(error)
      const hint = untrusted.test(code)
        ? '; a certificate that no public authority signed is trusted when NODE_EXTRA_CA_CERTS of this service names its file'
        : ''
      const message = `${name} ${what}: ${code}${hint}.`
      return lasting.test(code)
        ? new ServiceError('upstream', message, { cause: error })
        : new PassingError(message, { cause: error })
    }
    const opened = body && body.size > 0 ? body : undefined
    const stream = opened && streamOf(watched(opened, watch, error => Object.assign(source, { error })))
    try {
      watch.begin()
      const response = await fetch(url, {
        method,
        headers: {
          // Bytes are kept and measured as they are.
          'Accept-Encoding': 'identity',
          ...headers,
          ...credentials,
          ...(opened && { 'Content-Length': String(opened.size) }),
        },
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, watch.signal]) : watch.signal,
        ...(stream && { body: stream, duplex: 'half' }),
      })
      watch.rest()
      if (passingStatuses.has(response.status)) {
        await response.body?.cancel().catch(() => undefined)
        throw new PassingError(`${name} answered ${response.status}.`, { after: retryAfter(response.headers) })
      }
      const reply = watch.stream(response.body, error => failure('broke off', error))
      return { url, status: response.status, headers: response.headers, body: reply }
    } catch (error) {
      watch.end()
      throw error instanceof ServiceError && !('error' in source) ? error : failure('cannot be reached', error)
    }
  }
