import { ServiceError } from '#lib/errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'

/** The most values in a reply: a host has thousands of machines, and all hosts are listed together. */
const maxValues = 500_000

const utf8 = new TextDecoder()

/** Reads the JSON of a reply; undefined for an empty one. Throws `upstream` for anything else, and for more than the service can hold. */
export const readLimited = async (response: Response, hostName: string, maxBytes: number): Promise<unknown> => {
  const refuse = (what: string): ServiceError =>
    new ServiceError('upstream', `The reply of the host ${hostName} ${what}.`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw refuse(`is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  if (size === 0) return undefined
  if (!isWithinJsonLimits(bytes, maxValues)) throw refuse('has too many values, or values that are nested too deeply')
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    // The parser's message would quote the reply.
    throw refuse('is not JSON')
  }
}
