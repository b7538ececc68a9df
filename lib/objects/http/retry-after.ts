const maxRetryAfter = 60_000

/** Gives the milliseconds of a Retry-After header, which has seconds or a date (RFC 9110, 10.2.3); 0 without one. */
export const parseRetryAfter = (header: string | undefined): number => {
  if (header === undefined) return 0
  const asked = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), maxRetryAfter)
}
