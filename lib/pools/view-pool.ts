import { secretMembers } from '#lib/machines/members/schemas.ts'
import type { MemberRecord, PoolRecord } from './records.ts'
import type { Pool } from './schemas.ts'

const secrets: ReadonlySet<string> = new Set(secretMembers)

interface Surroundings {
  /** The members of the pool. */
  readonly members: readonly MemberRecord[]
  /** The number of claims that wait. */
  readonly waiting: number
  readonly problem: string | undefined
}

/** Returns a pool as users see it: without what is for its guests alone. */
export const viewPool = (
  { id, name, from, template, until, min, max, idle_ttl, created_at, created_by }: PoolRecord,
  { members, waiting, problem }: Surroundings,
): Pool => ({
  id,
  name,
  from,
  template: Object.fromEntries(Object.entries(template).filter(([name]) => !secrets.has(name))),
  ...(until !== undefined && { until }),
  min,
  max,
  idle_ttl,
  created_at,
  created_by,
  waiting,
  ...(problem !== undefined && { problem }),
  members: members.map(({ id, name, state, since, claim }) => ({
    id,
    name,
    state,
    since: new Date(since).toISOString(),
    ...(claim && { claimed_by: claim.username }),
  })),
})
