/** A clock of which no two times are alike and each is later than the one before, whatever the host's clock does. */
export interface Clock {
  /** The time as RFC 3339 text with microseconds; of two texts the later time is the greater one, by code unit. */
  next(): string
}

const microsecondsOf = (time: string): number => {
  // Date reads no more than milliseconds of a text.
  const [, whole = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? []
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

const textOf = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000)
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(microseconds - milliseconds * 1000).padStart(3, '0')}Z`
}

/**
 * @param given times that were given before, in any order: the clock goes on behind the last of them. A host whose clock
 * was set back must not make a new version older than those that it follows.
 */
export const createClock = (given: Iterable<string>): Clock => {
  let last = 0
  for (const time of given) last = Math.max(last, microsecondsOf(time) || 0)
  return {
    next() {
      last = Math.max(Date.now() * 1000, last + 1)
      return textOf(last)
    },
  }
}
