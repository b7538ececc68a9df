import { ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing-request.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'

/** Parses a reply as JSON; undefined for an empty one. Throws `upstream` for invalid JSON, and for JSON beyond the limits. */
export const parseReply = ({ body }: OutgoingReply): unknown => {
  if (body.length === 0) return undefined
  if (!isWithinJsonLimits(body))
    throw new ServiceError(
      'upstream',
      'The reply of the remote catalog has too many values, or values that are nested too deeply.',
    )
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    // The parser's message would quote the reply.
    throw new ServiceError('upstream', 'The reply of the remote catalog is not JSON.')
  }
}
