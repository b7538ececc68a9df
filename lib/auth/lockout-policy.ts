import { isIPv6 } from 'node:net'

/** How wrong passwords are slowed down (spec 5.7); times in seconds. */
export interface LockoutPolicy {
  /** Failures of one account that are free; 0 counts none. */
  readonly attempts: number
  /** Failures from one address that are free; 0 counts none. */
  readonly addressAttempts: number
  /** The lock after the last free failure; each further failure adds as much. */
  readonly delay: number
  /** The longest lock. */
  readonly limit: number
  /** Failures are forgotten so long after the last one. */
  readonly memory: number
}

/** Failures in a row, and when the last one was, in ms since 1970. */
export interface Failures {
  readonly count: number
  readonly at: number
}

/** Until when (ms since 1970) these failures lock; undefined when they do not. */
export const lockedUntil = (
  { count, at }: Failures,
  attempts: number,
  { delay, limit }: LockoutPolicy,
): number | undefined =>
  attempts === 0 || count < attempts ? undefined : at + Math.min(delay * (count - attempts + 1), limit) * 1000

/** What counts as one address: of IPv6 the first 64 bits, because one host has all the others to choose from. */
export const addressGroup = (address: string): string => {
  if (!isIPv6(address)) return address
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length)
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const parts = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return `${parts
    .slice(0, 4)
    .map(part => Number.parseInt(part, 16).toString(16))
    .join(':')}::/64`
}
