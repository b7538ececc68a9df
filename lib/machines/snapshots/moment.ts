import { ServiceError } from '#lib/errors.ts'

const day = 24 * 3_600_000
const timePattern = /^\d{1,2}:\d{2}(?::\d{2})?$/

/**
 * Returns the moment that a reference to a snapshot names, in milliseconds since 1970: `@2026-11-23T14:03:20Z`, or `@14:03:20` for the
 * last such time of the day in UTC. Undefined for a reference that does not begin with `@`. Throws `invalid`.
 */
export const parseMoment = (reference: string, now = Date.now()): number | undefined => {
  if (!reference.startsWith('@')) return undefined
  const text = reference.slice(1)
  const midnight = new Date(now).toISOString().slice(0, 11)
  const moment = Date.parse(timePattern.test(text) ? `${midnight}${text.padStart(5, '0')}Z` : text)
  if (Number.isNaN(moment) || (!timePattern.test(text) && !/[Zz]$|[+-]\d{2}:\d{2}$/.test(text)))
    throw new ServiceError(
      'invalid',
      `${reference} names no moment. Write @2026-11-23T14:03:20Z, or @14:03:20 for the last such time (UTC).`,
    )
  return moment > now && timePattern.test(text) ? moment - day : moment
}
