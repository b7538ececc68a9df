import { isIPv6 } from 'node:net'

/** How failed sign-ins lock accounts and addresses (spec 5.7). Times are in seconds. */
export interface LockoutPolicy {
  /** The failures of one account that do not lock it; 0 switches the lock-out of accounts off. */
  readonly attempts: number
  /** The failures from one address that do not lock it; 0 switches the lock-out of addresses off. */
  readonly addressAttempts: number
  /** The length of the first lock. Each further failure makes it longer by as much. */
  readonly delay: number
  /** The longest lock. */
  readonly maxDelay: number
  /** Failures are forgotten when none was added for this long. */
  readonly resetAfter: number
}

/** The number of failures in a row, and the time of the last one in ms since 1970. */
export interface Failures {
  readonly count: number
  readonly at: number
}

/** The end (ms since 1970) of the lock that these failures cause; undefined when they cause none. */
export const computeLockEnd = (
  { count, at }: Failures,
  attempts: number,
  { delay, maxDelay }: LockoutPolicy,
): number | undefined =>
  attempts === 0 || count < attempts ? undefined : at + Math.min(delay * (count - attempts + 1), maxDelay) * 1000

/** The addresses that are counted together: an IPv6 address stands for its /64, from which one host can choose freely. */
export const groupAddress = (address: string): string => {
  if (!isIPv6(address)) return address
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length)
  const [withoutZone = ''] = address.split('%')
  const [head = '', tail] = withoutZone.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const parts = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return `${parts
    .slice(0, 4)
    .map(part => Number.parseInt(part, 16).toString(16))
    .join(':')}::/64`
}
