import { ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing.ts'

/** Lists and objects within each other. What writes a reply calls itself for each. */
const deepest = 64
/** Values of a reply: 20,000 manifests have about half as many, and ten times as many would stop the service for seconds. */
const mostValues = 2_000_000

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}')

/** Judges by the signs alone, before anything is made of them; in UTF-8 each of them is one byte that is nothing else. */
const isModest = (body: Buffer): boolean => {
  let depth = 0
  let values = 0
  let inText = false
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at]
    if (inText) {
      if (byte === backslash) at += 1
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === comma) values += 1
    else if (byte === openList || byte === openObject) {
      depth += 1
      values += 1
    } else if (byte === closeList || byte === closeObject) depth -= 1
    if (depth > deepest || values > mostValues) return false
  }
  return true
}

/** A reply as data; undefined when it is empty. Throws `upstream` for what is no JSON, or too much of it. */
export const jsonOf = ({ body }: OutgoingReply): unknown => {
  if (body.length === 0) return undefined
  if (!isModest(body))
    throw new ServiceError(
      'upstream',
      'The reply of the remote catalog has too many values, or too deep in each other.',
    )
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    // The parser's own words quote the reply.
    throw new ServiceError('upstream', 'The reply of the remote catalog is not JSON.')
  }
}
