import { ServiceError } from '#lib/errors.ts'
import { RangeReply } from '#lib/calls/range-reply.ts'
import { replyRange } from './reply-range.ts'
import type { RequestContext } from './context.ts'
import { PreparedBody, PreparedParts } from '#lib/calls/prepared-body.ts'
import { clientClosedRequest, createErrorBody, toStatus, toServiceError } from '#lib/calls/statuses.ts'
import { AcceptedJob } from '#lib/calls/accepted-job.ts'
import type { MaybePromise } from '#lib/async/maybe-promise.ts'
import type { Outcome } from './outcome.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { SpecialReply } from '#lib/calls/special-reply.ts'
import { StreamReply } from '#lib/calls/stream-reply.ts'
import { Upgrade } from '#lib/calls/upgrade.ts'

// Without a charset: existing clients compare the exact text.
const jsonType = { 'Content-Type': 'application/json' }

/** They tell browsers that no reply is a page, a frame or a script, and that our addresses are not sent as a referrer. */
const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
} as const

/** Whether an If-None-Match header contains this tag, by weak comparison (RFC 9110, 13.1.2). */
const matchesETag = (header: string | null, etag: string): boolean =>
  header !== null && (header.trim() === '*' || header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag))

/** Whether a request failed because the client disconnected: the error is the abort reason of its signal. */
const isCallerGone = ({ signal }: RequestContext, thrown: unknown): boolean =>
  signal.aborted && thrown === signal.reason

/** The headers of one reply. The members of a literal after its spread would cost far more than assignments. */
const copyHeaders = (headers: Readonly<Record<string, string>>, requestId: string): Record<string, string> => {
  const copy: Record<string, string> = { ...headers }
  copy['X-Request-Id'] = requestId
  return copy
}

/** Makes the outcomes of requests. */
export interface Replies {
  /** The outcome of a handler's return value: JSON, a prepared body, a stream, a range, a job, an upgrade, or 304. */
  success(context: RequestContext, value: unknown, requestId: string): MaybePromise<Outcome>
  /** The outcome of an error that the handler or a step before it threw. */
  refusal(context: RequestContext, thrown: unknown, requestId: string): Outcome
}

/** `headers` are added to every reply. The header objects are built once, because every request uses them. */
export const createReplies = (headers: Readonly<Record<string, string>> = {}): Replies => {
  const commonHeaders = { ...securityHeaders, ...headers }
  const uncachedHeaders = { ...jsonType, 'Cache-Control': 'no-store', ...commonHeaders }
  const taggedHeaders = {
    Vary: 'Authorization, X-Api-Key, X-Filter',
    'Cache-Control': 'private, no-cache',
    ...commonHeaders,
  }
  const taggedJsonHeaders = { ...jsonType, ...taggedHeaders }
  const createOutcome = (
    value: unknown,
    requestId: string,
    reply: Pick<Outcome, 'status' | 'headers' | 'body'>,
  ): Outcome => ({
    requestId,
    status: reply.status,
    headers: reply.headers,
    body: reply.body,
    value,
    error: undefined,
    milliseconds: 0,
  })
  const replyPrepared = (context: RequestContext, value: PreparedBody | PreparedParts, requestId: string): Outcome => {
    // A call that changed something gets its full answer (RFC 9110, 13.1.2).
    const isUnchanged =
      (context.method === 'GET' || context.method === 'HEAD') &&
      matchesETag(context.header('if-none-match'), value.etag)
    const headers = copyHeaders(isUnchanged ? taggedHeaders : taggedJsonHeaders, requestId)
    headers['ETag'] = value.etag
    if (value.headers) Object.assign(headers, value.headers)
    if (isUnchanged) return createOutcome(value, requestId, { status: 304, headers, body: null })
    const status = context.route?.endpoint.status ?? 200
    const body = value instanceof PreparedBody ? value.json : value.stream
    return createOutcome(value, requestId, { status, headers, body })
  }
  const replyJson = (value: unknown, requestId: string, status: number): Outcome =>
    createOutcome(value, requestId, {
      status,
      headers: copyHeaders(uncachedHeaders, requestId),
      body: JSON.stringify(value) ?? null,
    })
  return {
    success(context, value, requestId) {
      if (!(value instanceof SpecialReply)) return replyJson(value, requestId, context.route?.endpoint.status ?? 200)
      if (value instanceof PreparedBody || value instanceof PreparedParts)
        return replyPrepared(context, value, requestId)
      if (value instanceof StreamReply) {
        const ownHeaders = {
          ...uncachedHeaders,
          ...value.headers,
          'Content-Type': value.type,
          'X-Accel-Buffering': 'no',
          'X-Request-Id': requestId,
        }
        return createOutcome(value, requestId, {
          status: 200,
          headers: ownHeaders,
          body: context.method === 'HEAD' ? value.cancel() : value.body,
        })
      }
      if (value instanceof RangeReply)
        return replyRange(context, value.source, { ...taggedHeaders, 'X-Request-Id': requestId }).then(reply =>
          createOutcome(value, requestId, reply),
        )
      if (value instanceof AcceptedJob) {
        const ownHeaders = {
          ...uncachedHeaders,
          Location: toServedPath(`/v1/jobs/${value.job.id}`),
          'X-Request-Id': requestId,
        }
        return createOutcome(value, requestId, { status: 202, headers: ownHeaders, body: JSON.stringify(value.job) })
      }
      if (value instanceof Upgrade) {
        // A step before the handler has refused all other requests.
        context.acceptUpgrade?.(value)
        return createOutcome(undefined, requestId, { status: 200, headers: {}, body: null })
      }
      throw new Error(`There is no way to send a ${value.constructor.name}.`)
    },
    refusal(context, thrown, requestId) {
      if (!(thrown instanceof ServiceError) && isCallerGone(context, thrown))
        return {
          requestId,
          status: clientClosedRequest,
          headers: {},
          body: null,
          value: undefined,
          error: thrown,
          milliseconds: 0,
        }
      const error = toServiceError(thrown, requestId)
      return {
        requestId,
        status: toStatus(error.fault),
        headers: { ...uncachedHeaders, 'X-Request-Id': requestId, ...error.headers },
        body: JSON.stringify(createErrorBody(error, context.route?.endpoint.oauth)),
        value: undefined,
        error: thrown,
        milliseconds: 0,
      }
    },
  }
}
