import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import { type Claim, Member, StoredPool } from './stored.ts'

export type PoolRecord = StoredPool & Stored
export type MemberRecord = Member & Stored

/** A new state of a member, with or without a claim, or a new claim. */
export interface MemberChange {
  readonly state?: Member['state']
  readonly claim?: Claim | undefined
}

/** The documents of pools and of their members, in memory and in the store. A change is visible when it is durable. */
export interface PoolRecords {
  /** All pools, ordered by name. */
  listPools(): readonly PoolRecord[]
  getPool(id: string): PoolRecord | undefined
  /** Finds a pool by its name, in any case. Throws `not-found`. */
  findPool(name: string): PoolRecord
  /** All members, the oldest first. */
  listMembers(): readonly MemberRecord[]
  getMember(id: string): MemberRecord | undefined
  findByKey(key: string): MemberRecord | undefined
  addPool(pool: StoredPool): Promise<void>
  replacePool(pool: PoolRecord): Promise<void>
  /** Deletes a pool together with changes of its members: they become `leaving`, or their documents are deleted. */
  removePool(
    pool: PoolRecord,
    members: { leave: readonly MemberRecord[]; drop: readonly MemberRecord[] },
  ): Promise<void>
  addMember(member: Member): Promise<MemberRecord>
  /** Changes a member. Throws `conflict` if it is not any more as the caller has read it. */
  changeMember(member: MemberRecord, change: MemberChange): Promise<MemberRecord>
  dropMember(member: MemberRecord): Promise<void>
  /** Publishes why a pool cannot be filled. */
  publishProblem(pool: PoolRecord, problem: string): Promise<void>
}

/** Opens the documents of pools in a store. */
export const openPoolRecords = async (store: Store, publish: Publish): Promise<PoolRecords> => {
  const pools = store.collection('pools', StoredPool, { unique: { name: ({ name }) => name.toLowerCase() } })
  const members = store.collection('pool-members', Member, { unique: { key: ({ claim }) => claim?.key } })
  const poolsById = new Map((await pools.list()).map(pool => [pool.id, pool]))
  const membersById = new Map((await members.list()).toSorted((a, b) => a.since - b.since).map(each => [each.id, each]))

  const publishPoolEvent = (event: string, { id, name }: StoredPool, more: object = {}): Write =>
    publish({
      // The type of the events of machines, because hosts pass events of this type on to their control.
      type: 'pdfm',
      message: `POOL_${event}`,
      body: { pool_id: id, name, ...more },
      audience: { claims: ['LIST_VM'] },
    })
  const publishClaim = ({ id, pool: poolId, claim }: Member): readonly Write[] => {
    const pool = poolsById.get(poolId)
    return pool && claim ? [publishPoolEvent('CLAIMED', pool, { vm_id: id, claimed_by: claim.username })] : []
  }
  const toChanged = (member: MemberRecord, change: MemberChange): MemberRecord => ({
    ...member,
    ...change,
    ...(change.state && { since: Date.now() }),
  })
  /** Remembers what a commit has stored. */
  const remember = (member: MemberRecord): MemberRecord => {
    const stored = { ...member, rev: member.rev + 1 }
    // The map keeps the order of the last changes of state.
    if (membersById.get(member.id)?.state !== member.state) membersById.delete(member.id)
    membersById.set(member.id, stored)
    return stored
  }

  return {
    listPools: () => [...poolsById.values()].toSorted((a, b) => a.name.localeCompare(b.name)),
    getPool: id => poolsById.get(id),
    findPool(name) {
      const found = [...poolsById.values()].find(pool => pool.name.toLowerCase() === name.toLowerCase())
      if (!found) throw new ServiceError('not-found', `There is no pool with the name ${name}.`)
      return found
    },
    listMembers: () => [...membersById.values()],
    getMember: id => membersById.get(id),
    findByKey: key => [...membersById.values()].find(({ claim }) => claim?.key === key),
    async addPool(pool) {
      await store.commit([pools.put(pool), publishPoolEvent('ADDED', pool)]).catch((error: unknown) => {
        if (!isFault(error, 'conflict')) throw error
        throw new ServiceError('conflict', `There is a pool with the name ${pool.name} already; choose another name.`)
      })
      poolsById.set(pool.id, { ...pool, rev: 1 })
    },
    async replacePool(pool) {
      await store.commit([pools.put(pool), publishPoolEvent('UPDATED', pool)])
      poolsById.set(pool.id, { ...pool, rev: pool.rev + 1 })
    },
    async removePool(pool, { leave, drop }) {
      const leaving = leave.map(member => toChanged(member, { state: 'leaving' }))
      await store.commit([
        pools.remove(pool),
        ...leaving.map(member => members.put(member)),
        ...drop.map(member => members.remove(member)),
        publishPoolEvent('REMOVED', pool),
      ])
      poolsById.delete(pool.id)
      leaving.forEach(remember)
      for (const { id } of drop) membersById.delete(id)
    },
    async addMember(member) {
      await store.commit([members.put(member)])
      return remember({ ...member, rev: 0 })
    },
    async changeMember(member, change) {
      const changed = toChanged(member, change)
      const isLeaving = changed.state === 'leaving'
      // Essential, because a machine that leaves frees space on a full disk.
      await store.commit([members.put(changed), ...publishClaim(changed)], { essential: isLeaving })
      return remember(changed)
    },
    async dropMember(member) {
      await store.commit([members.remove(member)], { essential: true })
      membersById.delete(member.id)
    },
    publishProblem: (pool, problem) => store.commit([publishPoolEvent('PROBLEM', pool, { problem })]),
  }
}
