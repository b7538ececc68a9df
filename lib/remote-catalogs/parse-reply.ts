import { ServiceError } from '#lib/errors.ts'
import type { OutgoingReply } from '#lib/platform/outgoing.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'

/** A reply as data; undefined when it is empty. Throws `upstream` for what is no JSON, or too much of it. */
export const parseReply = ({ body }: OutgoingReply): unknown => {
  if (body.length === 0) return undefined
  if (!isWithinJsonLimits(body))
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
