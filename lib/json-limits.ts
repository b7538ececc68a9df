/** Lists and objects within each other. What writes a reply calls itself for each. */
const deepest = 64
/** Values of one: 20,000 manifests have about half as many, and ten times as many would stop the service for seconds. */
const mostValues = 2_000_000

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}')

/**
 * Whether JSON that somebody sends can be made into data without stopping the service or filling its memory. Judges by the
 * signs alone, before anything is made of them; in UTF-8 each of them is one byte that is nothing else.
 */
export const isWithinJsonLimits = (body: Uint8Array, most = mostValues): boolean => {
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
    if (depth > deepest || values > most) return false
  }
  return true
}
