import { readBytes } from '#lib/async/read-bytes.ts'
import { ServiceError } from '#lib/errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'

/** Reads the body of a reply that another program has sent. Throws `upstream` for more than `maxBytes` bytes. */
export const readReply = (
  sender: string,
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer>> =>
  readBytes(
    body ?? new Blob().stream(),
    maxBytes,
    () => new ServiceError('upstream', `The reply of ${sender} is larger than ${maxBytes} bytes, the maximum.`),
  )

/**
 * Parses the body of a reply as JSON; undefined for an empty one. Throws `upstream` for anything else, and for more values or
 * levels than the service can hold.
 */
export const parseJsonReply = (sender: string, body: Uint8Array, maxValues?: number): unknown => {
  if (body.length === 0) return undefined
  if (!isWithinJsonLimits(body, maxValues))
    throw new ServiceError(
      'upstream',
      `The reply of ${sender} has too many values, or values that are nested too deeply.`,
    )
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    // The parser's message would quote the reply.
    throw new ServiceError('upstream', `The reply of ${sender} is not JSON.`)
  }
}
