/** Gives times that are unique and increase, also when the host's clock is set back. */
export interface Clock {
  /** The time as RFC 3339 text with microseconds. The text of a later time is greater, compared by code unit. */
  next(): string
}

const parseMicroseconds = (time: string): number => {
  // Date ignores digits beyond the milliseconds.
  const [, whole = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? []
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

const formatMicroseconds = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000)
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(microseconds - milliseconds * 1000).padStart(3, '0')}Z`
}

/**
 * Makes a clock that continues after the last of the `earlier` times, which are in any order. So a new version is not older
 * than its predecessors after the host's clock was set back.
 */
export const createClock = (earlier: Iterable<string>): Clock => {
  let last = 0
  for (const time of earlier) last = Math.max(last, parseMicroseconds(time) || 0)
  return {
    next() {
      last = Math.max(Date.now() * 1000, last + 1)
      return formatMicroseconds(last)
    },
  }
}
