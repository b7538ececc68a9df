import * as z from 'zod'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Store } from '#lib/storage/store.ts'
import { groupAddress, type Failures, computeLockEnd, type LockoutPolicy } from './lockout-policy.ts'

const FailureRecord = z.object({ id: z.uuid(), subject: z.string(), count: z.int(), at: z.number() })

/** An attempt to sign in. */
export interface Attempt {
  /** The id of the user; undefined when no user has the name. */
  readonly userId: string | undefined
  /** The name that was typed. */
  readonly identifier: string
  readonly address: string
}

/** Counts failed sign-ins by account and by address, and refuses more after too many. The counts survive a restart. */
export interface Lockout {
  /**
   * Runs `check`, which says whether the password is right, and counts a failure. Throws `locked-out` without running it
   * when the account or the address is locked. Never runs more checks at once than failures are left before a lock, and
   * throws `unavailable` when too many wait.
   */
  guard(attempt: Attempt, check: () => Promise<boolean>): Promise<boolean>
  /** The time (ms since 1970) until which sign-in of this user is refused; undefined when it is not. */
  lockedUntil(userId: string): number | undefined
  /** Forgets the failures of a user. */
  unlock(userId: string): Promise<void>
}

/** The most names of nobody that are counted. They are in memory only and bounded, because anybody can invent them. */
const maxUnknownNames = 10_000
const maxWaiting = 256

interface Semaphore {
  running: number
  readonly waiting: (() => void)[]
}

const isAddress = (subject: string): boolean => subject.startsWith('address ')

const createLockedOutError = (subject: string, until: number): ServiceError => {
  const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000))
  return new ServiceError(
    'locked-out',
    `Too many sign-ins failed${isAddress(subject) ? ' from your address' : ''}. Try again in ${seconds} seconds.`,
    {
      headers: { 'Retry-After': String(seconds) },
    },
  )
}

export const openLockout = async (store: Store, policy: LockoutPolicy): Promise<Lockout> => {
  const records = store.collection('lockouts', FailureRecord, { unique: { subject: ({ subject }) => subject } })
  const storedFailures = new Map(
    (await records.list()).map(({ subject, id, count, at }) => [subject, { id, count, at }]),
  )
  const unstoredFailures = new Map<string, Failures>()
  const semaphores = new Map<string, Semaphore>()

  const getAllowedAttempts = (subject: string): number =>
    isAddress(subject) ? policy.addressAttempts : policy.attempts
  const getFailures = (subject: string): Failures => {
    const failures = storedFailures.get(subject) ?? unstoredFailures.get(subject)
    return failures && failures.at + policy.resetAfter * 1000 > Date.now() ? failures : { count: 0, at: 0 }
  }
  const getLockEnd = (subject: string): number | undefined => {
    const until = computeLockEnd(getFailures(subject), getAllowedAttempts(subject), policy)
    return until !== undefined && until > Date.now() ? until : undefined
  }

  const clearFailures = async (subject: string): Promise<void> => {
    unstoredFailures.delete(subject)
    const record = storedFailures.get(subject)
    if (!record) return
    storedFailures.delete(subject)
    await store.commit([records.remove(record)])
  }
  const recordFailure = async (subject: string): Promise<void> => {
    const failures = { count: getFailures(subject).count + 1, at: Date.now() }
    if (subject.startsWith('name ')) {
      unstoredFailures.delete(subject)
      if (unstoredFailures.size >= maxUnknownNames)
        for (const oldest of unstoredFailures.keys().take(1)) unstoredFailures.delete(oldest)
      unstoredFailures.set(subject, failures)
      return
    }
    // A subject keeps its id, so that the next record replaces this one whether or not this one could be written.
    const record = { id: storedFailures.get(subject)?.id ?? crypto.randomUUID(), ...failures }
    // In memory first, so that the next attempt is refused before the disk has answered.
    storedFailures.set(subject, record)
    await store
      .commit([records.remove({ id: record.id }), records.put({ subject, ...record })])
      .catch((error: unknown) => {
        // The failure counts in memory until a restart. The user gets the answer to a wrong password, not an error of the disk.
        if (!isFault(error, 'no-space')) throw error
      })
    if (storedFailures.size % 1000 === 0) await removeExpired().catch(() => undefined)
  }

  /** Waits until one more check of the subject may run. Throws `locked-out`, and `unavailable` when too many wait. */
  const acquire = async (subject: string): Promise<void> => {
    for (;;) {
      const until = getLockEnd(subject)
      if (until !== undefined) throw createLockedOutError(subject, until)
      const semaphore = semaphores.get(subject) ?? { running: 0, waiting: [] }
      semaphores.set(subject, semaphore)
      // Before a lock as many checks run as may still fail; after it one at a time.
      if (semaphore.running < Math.max(1, getAllowedAttempts(subject) - getFailures(subject).count)) {
        semaphore.running += 1
        return
      }
      if (semaphore.waiting.length >= maxWaiting)
        throw new ServiceError('unavailable', 'Too many people are signing in at this moment; try again in a second.', {
          headers: { 'Retry-After': '1' },
        })
      await new Promise<void>(resolve => void semaphore.waiting.push(resolve))
    }
  }
  const release = (subject: string): void => {
    const semaphore = semaphores.get(subject)
    if (!semaphore) return
    semaphore.running -= 1
    if (semaphore.running === 0) semaphores.delete(subject)
    // All waiting attempts check again, because the number that may run can have changed by more than one.
    for (const wake of semaphore.waiting) wake()
    semaphore.waiting.length = 0
  }

  const removeExpired = async (): Promise<void> => {
    const old = [...storedFailures].filter(([subject]) => getFailures(subject).count === 0)
    for (const [subject] of old) storedFailures.delete(subject)
    if (old.length > 0) await store.commit(old.map(([, { id }]) => records.remove({ id })))
  }
  await removeExpired()

  return {
    async guard({ userId, identifier, address }, check) {
      const account = userId === undefined ? `name ${identifier.toLowerCase().slice(0, 256)}` : `account ${userId}`
      const subjects = [account, ...(address === '' ? [] : [`address ${groupAddress(address)}`])].filter(
        subject => getAllowedAttempts(subject) > 0,
      )
      const acquired: string[] = []
      try {
        for (const subject of subjects) {
          await acquire(subject)
          acquired.push(subject)
        }
        const matches = await check()
        // The password was right, even if the disk cannot be written.
        if (matches) await clearFailures(account).catch(() => undefined)
        else await Promise.all(subjects.map(recordFailure))
        return matches
      } finally {
        for (const subject of acquired) release(subject)
      }
    },
    lockedUntil: userId => getLockEnd(`account ${userId}`),
    unlock: userId => clearFailures(`account ${userId}`),
  }
}
