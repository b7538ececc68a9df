import { messageOf, ServiceError } from '#lib/errors.ts'

const defaultLimit = 64 * 1024

/** Reads a request's body up to `limit` bytes; more is refused before it is held in memory. */
const readBytes = async (request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> => {
  const tooLarge = (): ServiceError =>
    new ServiceError('too-large', `The request body is larger than the ${limit} bytes that this endpoint reads.`, {
      // The rest of the body is not read, so the connection cannot serve another request.
      headers: { Connection: 'close' },
    })
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge()
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of request.body) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('invalid', 'The request body ended before all of it had come.', { cause: error })
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Lists and objects within each other. What reads the body after this calls itself for each, and has more to keep. */
const deepest = 256

/** A member that is null counts as one that is not there. Throws a RangeError for what is nested too deeply. */
const withoutNulls = (value: unknown, depth = 0): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (depth === deepest) throw new RangeError('nested too deeply')
  if (Array.isArray(value)) return value.map(item => withoutNulls(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, withoutNulls(member, depth + 1)]])),
  )
}

const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return withoutNulls(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    // The parser's own words quote the body, and that may hold a password.
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

const parseForm = async (bytes: Uint8Array<ArrayBuffer>, type: string): Promise<unknown> => {
  try {
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
    return Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'))
  } catch (error) {
    throw new ServiceError(
      'invalid',
      `The request body is not the form that its Content-Type says: ${messageOf(error)}.`,
    )
  }
}

const formType = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i

// curl -d calls everything a form, JSON too; no form begins with a brace.
const looksLikeJson = (bytes: Uint8Array): boolean => bytes[0] === '{'.charCodeAt(0)

/**
 * The body of a request as data: JSON whatever its Content-Type says, or one of the two form types of HTML.
 * Undefined when there is none. Throws `too-large` and `invalid`.
 */
export const readBody = async (request: Request, limit = defaultLimit): Promise<unknown> => {
  const bytes = await readBytes(request, limit)
  if (bytes.length === 0) return undefined
  const type = request.headers.get('content-type') ?? ''
  return formType.test(type) && !looksLikeJson(bytes) ? parseForm(bytes, type) : parseJson(bytes)
}
