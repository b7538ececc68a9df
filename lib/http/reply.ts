import type { ServiceError } from '#lib/errors.ts'
import { Encoded } from './encoded.ts'
import { errorBody, statusOf } from './errors.ts'

// Exactly this: clients of the field compare the text.
const type = { 'Content-Type': 'application/json' }

/** Whether an If-None-Match header names this tag; weak comparison (RFC 9110, 13.1.2). */
const namesTag = (header: string | null, etag: string): boolean =>
  header !== null && (header.trim() === '*' || header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag))

/** What a handler returned, as a response: JSON, or for an `Encoded` its bytes, or 304 where the caller has them. */
export const reply = (request: Request, value: unknown, status: number, requestId: string): Response => {
  if (!(value instanceof Encoded))
    return new Response(JSON.stringify(value), {
      status,
      headers: { ...type, 'Cache-Control': 'no-store', 'X-Request-Id': requestId },
    })
  const headers = {
    ETag: value.etag,
    Vary: 'Authorization, X-Api-Key, X-Filter',
    'Cache-Control': 'private, no-cache',
    'X-Request-Id': requestId,
  }
  return namesTag(request.headers.get('if-none-match'), value.etag)
    ? new Response(null, { status: 304, headers })
    : new Response(value.bytes, { status, headers: { ...type, ...headers } })
}

/** A refusal as a response; with `oauth` a bad request is told in that shape too. */
export const errorReply = (error: ServiceError, requestId: string, oauth = false): Response =>
  new Response(JSON.stringify(errorBody(error, oauth)), {
    status: statusOf(error.fault),
    headers: { ...type, 'Cache-Control': 'no-store', 'X-Request-Id': requestId, ...error.headers },
  })
