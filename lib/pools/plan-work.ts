import type { MemberMachine } from '#lib/machines/members/members.ts'
import type { MemberRecord, PoolRecord } from './records.ts'

/** What has to be done with a member: become `leaving`, lose its machine, lose its document, or go to who has claimed it. */
export type MemberWork = 'retire' | 'remove' | 'drop' | 'hand over'

/** The most machines of a pool that are made at the same time. */
const mostAtATime = 4

/** What has to be done with a member, whatever else its pool has. */
export const planMember = (
  { state, generation }: MemberRecord,
  pool: PoolRecord | undefined,
  machine: MemberMachine | undefined,
): MemberWork | undefined => {
  switch (state) {
    case 'leaving':
      return 'remove'
    case 'preparing':
      // Nobody makes it any more: the service was killed.
      return 'retire'
    case 'ready':
      return machine?.state === 'running' && generation === pool?.generation ? undefined : 'retire'
    case 'claimed':
      if (!machine) return 'drop'
      if (machine.owner === undefined) return 'hand over'
      return pool ? undefined : 'drop'
  }
}

interface Situation {
  /** All members of the pool, the oldest first. */
  readonly members: readonly MemberRecord[]
  /** Those that can be claimed now. */
  readonly ready: readonly MemberRecord[]
  /** The number of those that are about to be prepared and are no members yet. */
  readonly starting: number
  /** The number of claims that wait. */
  readonly waiting: number
  readonly now: number
}

/** Returns how many machines have to be made for a pool, which keeps its maximum. */
export const countMissing = (
  { min, max, generation }: PoolRecord,
  { members, ready, starting, waiting }: Situation,
): number => {
  const preparing = members.filter(({ state }) => state === 'preparing')
  const coming = starting + preparing.filter(each => each.generation === generation).length
  return Math.max(
    0,
    Math.min(
      min + waiting - ready.length - coming,
      max - members.length - starting,
      mostAtATime - preparing.length - starting,
    ),
  )
}

/**
 * Returns the ready member that has to leave next: one above the maximum, or one that is too old while the pool has as many as it
 * needs. So old members are replaced one after the other, and a pool that cannot be filled keeps them.
 */
export const findSurplus = (
  { min, max, idle_ttl }: PoolRecord,
  { members, ready, waiting, now }: Situation,
): MemberRecord | undefined => {
  const [oldest] = ready
  if (!oldest) return undefined
  const staying = members.filter(({ state }) => state !== 'leaving')
  const isOld = now - oldest.since > idle_ttl * 1000 && ready.length >= min + waiting
  return staying.length > max || isOld ? oldest : undefined
}
