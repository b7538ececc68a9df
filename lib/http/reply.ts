import type { ServiceError } from '#lib/errors.ts'
import { Encoded } from './encoded.ts'
import { errorBody, statusOf } from './errors.ts'

type Headers = Readonly<Record<string, string>>

// Exactly this: clients of the field compare the text.
const type = { 'Content-Type': 'application/json' }

/** For browsers: nothing here is a page, a frame or a script, and no address of ours is anybody else's business. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
} as const

/** Whether an If-None-Match header names this tag; weak comparison (RFC 9110, 13.1.2). */
const namesTag = (header: string | null, etag: string): boolean =>
  header !== null && (header.trim() === '*' || header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag))

/** What a handler returned, as a response: JSON, or for an `Encoded` its bytes, or 304 where the caller has them. */
export const reply = (request: Request, value: unknown, status: number, common: Headers): Response => {
  if (!(value instanceof Encoded))
    return new Response(JSON.stringify(value), {
      status,
      headers: { ...type, 'Cache-Control': 'no-store', ...common },
    })
  const headers = {
    ETag: value.etag,
    Vary: 'Authorization, X-Api-Key, X-Filter',
    'Cache-Control': 'private, no-cache',
    ...common,
  }
  return namesTag(request.headers.get('if-none-match'), value.etag)
    ? new Response(null, { status: 304, headers })
    : new Response(value.bytes, { status, headers: { ...type, ...headers } })
}

/** A refusal as a response; with `oauth` a bad request is told in that shape too. */
export const errorReply = (error: ServiceError, common: Headers, oauth = false): Response =>
  new Response(JSON.stringify(errorBody(error, oauth)), {
    status: statusOf(error.fault),
    headers: { ...type, 'Cache-Control': 'no-store', ...common, ...error.headers },
  })
