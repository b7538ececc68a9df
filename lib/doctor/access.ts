import type { Stats } from 'node:fs'
import type { ServiceAccount } from './surroundings.ts'

/** Whether an account may use a file in the ways of `bits`, which are those of a digit of chmod: 4 read, 2 write, 1 enter. */
export const mayOpen = (
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  account: Pick<ServiceAccount, 'uid' | 'groups'>,
  bits: number,
): boolean => {
  if (account.uid === 0) return true
  const shift = account.uid === uid ? 6 : account.groups.includes(gid) ? 3 : 0
  return ((mode >> shift) & bits) === bits
}
