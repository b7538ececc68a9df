import { messageOf, ServiceError } from '#lib/errors.ts'
import { continueWith, type MaybePromise } from '#lib/async/maybe-promise.ts'
import type { RequestContext } from './context.ts'

/** Bytes of a request body whose endpoint names no other limit. */
const defaultBodyLimit = 64 * 1024

type BodySource = Pick<RequestContext, 'readBytes' | 'header'> & Partial<Pick<RequestContext, 'caller'>>

/** The refusal of a body of more than `limit` bytes. */
export const createBodyTooLargeError = (limit: number): ServiceError =>
  new ServiceError('too-large', `The request body is larger than the ${limit} bytes that this endpoint reads.`, {
    // The rest of the body is not read, so the connection cannot serve another request.
    headers: { Connection: 'close' },
  })

/** The error for a body that could not be read to its end: `invalid`, unless the reader threw a ServiceError. */
export const toBodyReadError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('invalid', 'The request body ended early.', { cause: error })

/** Limit for nested arrays and objects. Later readers of the body recurse too and need more stack than this one. */
const maxDepth = 256

/** Deletes members that are null, because null means absent. Throws a RangeError when the value is nested too deeply. */
const omitNulls = (value: unknown, depth = 0): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (depth === maxDepth) throw new RangeError('nested too deeply')
  if (Array.isArray(value)) {
    for (const item of value) omitNulls(item, depth + 1)
    return value
  }
  // It is from `JSON.parse`: an object that is no array.
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members)) {
    const member = members[key]
    if (member === null) delete members[key]
    else omitNulls(member, depth + 1)
  }
  return value
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return omitNulls(JSON.parse(utf8.decode(bytes)))
  } catch (error) {
    // The parser's message quotes the body, which may hold a password, so only the position is used.
    const at = /position (\d+)/.exec(messageOf(error))?.[1]
    const why =
      error instanceof RangeError
        ? ': it is nested too deeply'
        : at === undefined
          ? ''
          : `: it is broken at character ${at}`
    throw new ServiceError('invalid', `The request body is not JSON${why}. Send one JSON object in UTF-8.`)
  }
}

const parseForm = async (bytes: Uint8Array, type: string): Promise<unknown> => {
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
    return Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'))
  } catch (error) {
    throw new ServiceError(
      'invalid',
      `The request body is not the form that its Content-Type says: ${messageOf(error)}.`,
    )
  }
}

const formType = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i

// curl -d labels JSON as a form too. A form never begins with a brace.
const looksLikeJson = (bytes: Uint8Array): boolean => bytes[0] === '{'.charCodeAt(0)

/** Parses the bytes of a body: one of the two HTML form types, else JSON whatever the type is. Gives undefined for no bytes. */
const parseBody = (bytes: Uint8Array, type: string): MaybePromise<unknown> => {
  if (bytes.length === 0) return undefined
  return formType.test(type) && !looksLikeJson(bytes) ? parseForm(bytes, type) : parseJson(bytes)
}

/** Refuses a body that is not the one which the issuer of the caller has signed. */
const checkSignedBody = async (bytes: Uint8Array<ArrayBuffer>, digest: string): Promise<void> => {
  const actual = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
  if (actual === digest) return
  throw new ServiceError('unauthenticated', 'The assertion is refused: it was signed for another body.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}

/**
 * Reads and parses the body of a request, and calls `onValue` with its value. Rejects with `too-large`, with `invalid`, with
 * `unauthenticated` for a body that the issuer of the caller has not signed, and with what `onValue` throws. It takes a callback because each further promise would cost a small request a noticeable part.
 */
export const readBody = (
  context: BodySource,
  onValue: (value: unknown) => void,
  limit = defaultBodyLimit,
): Promise<void> =>
  context.readBytes(limit).then(bytes => {
    const parse = (): MaybePromise<void> =>
      continueWith(parseBody(bytes, context.header('content-type') ?? ''), onValue)
    const digest = context.caller?.bodyDigest
    return digest === undefined ? parse() : checkSignedBody(new Uint8Array(bytes), digest).then(parse)
  })

/** Reads a body that is bytes. Rejects with `too-large`, `invalid`, and `unauthenticated` as `readBody` does. */
export const readBodyBytes = async (context: BodySource, limit = defaultBodyLimit): Promise<Uint8Array> => {
  const bytes = await context.readBytes(limit)
  const digest = context.caller?.bodyDigest
  if (digest !== undefined) await checkSignedBody(new Uint8Array(bytes), digest)
  return bytes
}
