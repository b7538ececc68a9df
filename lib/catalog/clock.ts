let [last, count] = ['', 0]

/**
 * The time as RFC 3339 text, in which no two are alike and a later one is greater: what was changed in the same millisecond
 * is told apart by its microseconds.
 */
export const nextTime = (): string => {
  const now = new Date().toISOString()
  const later = now > last
  if (later) last = now
  count = later ? 0 : count + 1
  return `${last.slice(0, -1)}${String(Math.min(count, 999)).padStart(3, '0')}Z`
}
