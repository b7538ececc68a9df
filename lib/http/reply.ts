import type { ServiceError } from '#lib/errors.ts'
import { ContentReply, contentResponse } from './content.ts'
import { Encoded } from './encoded.ts'
import { Stream } from './stream.ts'
import { errorBody, statusOf } from './errors.ts'
import { JobStarted } from './job-started.ts'
import { servedPath } from './paths.ts'

// Exactly this: clients of the field compare the text.
const type = { 'Content-Type': 'application/json' }

/** For browsers: nothing here is a page, a frame or a script, and no address of ours is anybody else's business. */
const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
} as const

/** Whether an If-None-Match header names this tag; weak comparison (RFC 9110, 13.1.2). */
const namesTag = (header: string | null, etag: string): boolean =>
  header !== null && (header.trim() === '*' || header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag))

/** Makes responses. */
export interface Replies {
  /** What a handler returned: JSON, or an `Encoded` as it is, or 304 where the caller has them. */
  success(request: Request, value: unknown, status: number, requestId: string): Response | Promise<Response>
  /** A refusal; with `oauth` a bad request is told in that shape too. */
  refusal(error: ServiceError, requestId: string, oauth: boolean | undefined): Response
}

/** `headers`: of every reply, beside those of security that all have. Put together once, for it is on every request. */
export const createReplies = (headers: Readonly<Record<string, string>> = {}): Replies => {
  const common = { ...securityHeaders, ...headers }
  const fresh = { ...type, 'Cache-Control': 'no-store', ...common }
  const tagged = { Vary: 'Authorization, X-Api-Key, X-Filter', 'Cache-Control': 'private, no-cache', ...common }
  return {
    success(request, value, status, requestId) {
      if (value instanceof Stream)
        return new Response(value.body, {
          headers: { ...fresh, 'Content-Type': value.type, 'X-Accel-Buffering': 'no', 'X-Request-Id': requestId },
        })
      if (value instanceof ContentReply)
        return contentResponse(request, value.content, { ...tagged, 'X-Request-Id': requestId })
      if (value instanceof JobStarted)
        return new Response(JSON.stringify(value.job), {
          status: 202,
          headers: {
            ...fresh,
            Location: servedPath(`/v1/jobs/${value.job.id}`),
            'Preference-Applied': 'respond-async',
            'X-Request-Id': requestId,
          },
        })
      if (!(value instanceof Encoded))
        return new Response(JSON.stringify(value), { status, headers: { ...fresh, 'X-Request-Id': requestId } })
      const own = { ...tagged, ...value.headers, ETag: value.etag, 'X-Request-Id': requestId }
      // What changes something was done, and is answered (RFC 9110, 13.1.2).
      return /^(GET|HEAD)$/.test(request.method) && namesTag(request.headers.get('if-none-match'), value.etag)
        ? new Response(null, { status: 304, headers: own })
        : new Response(value.json, { status, headers: { ...type, ...own } })
    },
    refusal: (error, requestId, oauth = false) =>
      new Response(JSON.stringify(errorBody(error, oauth)), {
        status: statusOf(error.fault),
        headers: { ...fresh, 'X-Request-Id': requestId, ...error.headers },
      }),
  }
}
