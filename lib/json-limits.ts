/** The most levels of nested lists and objects, because serialization is recursive. */
const maxDepth = 64
/** The most values. 20,000 manifests have about half as many; ten times as many would block the service for seconds. */
const maxValues = 2_000_000

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}')

/**
 * Whether received JSON can be parsed without blocking the service or filling its memory. This counts the structural
 * characters before anything is parsed. In UTF-8 each of them is one byte, which is part of no other character.
 */
export const isWithinJsonLimits = (body: Uint8Array, limit = maxValues): boolean => {
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
    if (depth > maxDepth || values > limit) return false
  }
  return true
}
