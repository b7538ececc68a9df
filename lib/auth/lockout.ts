import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Store } from '#lib/storage/store.ts'
import { addressGroup, type Failures, lockedUntil, type LockoutPolicy } from './lockout-policy.ts'

const FailureRecord = z.object({ id: z.uuid(), subject: z.string(), count: z.int(), at: z.number() })

/** Who tries to sign in. */
export interface Attempt {
  /** The id of the user, or undefined where nobody has the name. */
  readonly userId: string | undefined
  /** What was typed. */
  readonly identifier: string
  readonly address: string
}

/** Counts wrong passwords by account and by address, and refuses whoever had too many. Survives a restart. */
export interface Lockout {
  /**
   * Runs `check`, which says whether the password is right, unless the account or the address is locked: then throws
   * `locked-out` without running it, whatever the password. Never runs more checks at once than failures are left.
   */
  guard(attempt: Attempt, check: () => Promise<boolean>): Promise<boolean>
  /** Until when (ms since 1970) sign-in of this user is refused. */
  lockedUntil(userId: string): number | undefined
  /** Forgets the failures of a user. */
  unlock(userId: string): Promise<void>
}

/** Subjects that have no record on disk: names that nobody has. Bounded, for anybody can make them up. */
const rememberedNames = 10_000
const waitingRoom = 256

interface Gate {
  running: number
  readonly waiting: (() => void)[]
}

const isAddress = (subject: string): boolean => subject.startsWith('address ')

const refused = (subject: string, until: number): ServiceError => {
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
  const kept = new Map((await records.list()).map(({ subject, id, count, at }) => [subject, { id, count, at }]))
  const unknown = new Map<string, Failures>()
  const gates = new Map<string, Gate>()

  const attemptsOf = (subject: string): number => (isAddress(subject) ? policy.addressAttempts : policy.attempts)
  const failuresOf = (subject: string): Failures => {
    const failures = kept.get(subject) ?? unknown.get(subject)
    return failures && failures.at + policy.memory * 1000 > Date.now() ? failures : { count: 0, at: 0 }
  }
  const lockOf = (subject: string): number | undefined => {
    const until = lockedUntil(failuresOf(subject), attemptsOf(subject), policy)
    return until !== undefined && until > Date.now() ? until : undefined
  }

  const forget = async (subject: string): Promise<void> => {
    unknown.delete(subject)
    const record = kept.get(subject)
    if (!record) return
    kept.delete(subject)
    await store.commit([records.remove(record)])
  }
  const fail = async (subject: string): Promise<void> => {
    const failures = { count: failuresOf(subject).count + 1, at: Date.now() }
    if (subject.startsWith('name ')) {
      unknown.delete(subject)
      if (unknown.size >= rememberedNames) unknown.delete(unknown.keys().next().value!)
      unknown.set(subject, failures)
      return
    }
    const old = kept.get(subject)
    const record = { id: crypto.randomUUID(), ...failures }
    // In memory first: the next attempt must not wait for the disk to be refused.
    kept.set(subject, record)
    await store.commit([...(old ? [records.remove(old)] : []), records.put({ subject, ...record })])
    if (kept.size % 1000 === 0) await forgetOld().catch(() => undefined)
  }

  /** Waits until the subject may have one more check under way. Throws `locked-out`. */
  const enter = async (subject: string): Promise<void> => {
    for (;;) {
      const until = lockOf(subject)
      if (until !== undefined) throw refused(subject, until)
      const gate = gates.get(subject) ?? { running: 0, waiting: [] }
      gates.set(subject, gate)
      // After a lock one try at a time, before it as many as may still fail.
      if (gate.running < Math.max(1, attemptsOf(subject) - failuresOf(subject).count)) {
        gate.running += 1
        return
      }
      if (gate.waiting.length >= waitingRoom)
        throw new ServiceError('unavailable', 'Too many people are signing in at this moment; try again in a second.', {
          headers: { 'Retry-After': '1' },
        })
      await new Promise<void>(resolve => void gate.waiting.push(resolve))
    }
  }
  const leave = (subject: string): void => {
    const gate = gates.get(subject)!
    gate.running -= 1
    if (gate.running === 0) gates.delete(subject)
    // Everybody looks again: how many more may run can have changed by more than one.
    for (const wake of gate.waiting) wake()
    gate.waiting.length = 0
  }

  const forgetOld = async (): Promise<void> => {
    const old = [...kept].filter(([subject]) => failuresOf(subject).count === 0)
    for (const [subject] of old) kept.delete(subject)
    if (old.length > 0) await store.commit(old.map(([, { id }]) => records.remove({ id })))
  }
  await forgetOld()

  return {
    async guard({ userId, identifier, address }, check) {
      const account = userId === undefined ? `name ${identifier.toLowerCase().slice(0, 256)}` : `account ${userId}`
      const subjects = [account, ...(address === '' ? [] : [`address ${addressGroup(address)}`])].filter(
        subject => attemptsOf(subject) > 0,
      )
      const entered: string[] = []
      try {
        for (const subject of subjects) {
          await enter(subject)
          entered.push(subject)
        }
        const right = await check()
        // The password was right, whether or not the disk can be told so.
        if (right) await forget(account).catch(() => undefined)
        else await Promise.all(subjects.map(fail))
        return right
      } finally {
        for (const subject of entered) leave(subject)
      }
    },
    lockedUntil: userId => lockOf(`account ${userId}`),
    unlock: userId => forget(`account ${userId}`),
  }
}
