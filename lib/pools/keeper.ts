import { messageOf } from '#lib/errors.ts'
import { createBackOff } from './back-off.ts'
import type { Line } from './line.ts'
import { createMemberWorks, type PoolMachines } from './member-work.ts'
import { countMissing, findSurplus, type MemberWork, planMember } from './plan-work.ts'
import type { MemberRecord, PoolRecord, PoolRecords } from './records.ts'

/**
 * Keeps pools as their definitions say: makes machines, replaces old ones, deletes those that leave, and repeats after a restart
 * what a kill has interrupted.
 */
export interface Keeper {
  /** Looks soon at all pools. Call it after each change. */
  wake(): void
  /** Takes the ready member of a pool that is the oldest, for one claim. Undefined if there is none. */
  take(poolId: string): MemberRecord | undefined
  /** Ends the claim of a member that was taken. */
  release(member: MemberRecord): void
  /** Gives the machine of a claimed member to its owner, or joins the work that does. */
  handOver(member: MemberRecord): Promise<void>
  /** Takes a member out of its pool. Its machine is deleted later. */
  retire(member: MemberRecord): Promise<void>
  /** Deletes the machines of leaving members, also of those that are being made. Settles when each has been tried. */
  removeNow(members: readonly MemberRecord[]): Promise<void>
  /** Why machines of a pool cannot be made at present. */
  findProblem(poolId: string): string | undefined
  /** Forgets why machines of a pool could not be made, because its definition has changed. */
  forgetProblem(poolId: string): void
  /** Ends the making of machines, which the next start of the service begins anew, and waits for all other work. */
  close(): Promise<void>
}

interface Options {
  readonly records: PoolRecords
  readonly machines: PoolMachines
  readonly line: Line
  /** Called when work on a machine of a pool has failed. It is tried again. */
  readonly onFailed: (pool: string, error: unknown) => void
}

/** Work on a member that is under way. */
interface Running {
  readonly poolId: string
  readonly work: MemberWork | 'prepare'
  readonly result: Promise<void>
  readonly abort: AbortController
}

export const createKeeper = ({ records, machines, line, onFailed }: Options): Keeper => {
  const works = createMemberWorks({ records, machines })
  const running = new Map<string, Running>()
  const taken = new Set<string>()
  const problems = new Map<string, string>()
  const backOff = createBackOff()
  let isClosed = false
  let isAwake = false

  const begin = (
    member: Pick<MemberRecord, 'id' | 'pool'>,
    work: Running['work'],
    start: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> => {
    const abort = new AbortController()
    const result = start(abort.signal).finally(() => {
      running.delete(member.id)
      wake()
    })
    running.set(member.id, { poolId: member.pool, work, result, abort })
    return result
  }
  const isFree = ({ id }: MemberRecord): boolean => !running.has(id) && !taken.has(id)
  const planNext = (member: MemberRecord): MemberWork | undefined =>
    planMember(member, records.getPool(member.pool), machines.members.find(member.id))
  const listReady = (poolId: string): readonly MemberRecord[] =>
    records
      .listMembers()
      .filter(each => each.pool === poolId && each.state === 'ready' && isFree(each) && planNext(each) === undefined)

  /** Does work that nobody waits for, unless it has failed just now. */
  const workOn = async (member: MemberRecord, work: MemberWork): Promise<void> => {
    if (backOff.isEarly(member.id)) return
    try {
      const start = {
        retire: works.retire,
        remove: works.remove,
        drop: records.dropMember,
        'hand over': works.handOver,
      }
      await begin(member, work, () => start[work](member))
      backOff.clear(member.id)
    } catch (error) {
      backOff.fail(member.id)
      onFailed(records.getPool(member.pool)?.name ?? member.name, error)
    }
  }
  const noteProblem = (pool: PoolRecord, error: unknown): void => {
    // Of machines that fail together, one counts.
    if (!backOff.isEarly(pool.id)) backOff.fail(pool.id)
    const problem = messageOf(error)
    if (problems.get(pool.id) === problem) return
    problems.set(pool.id, problem)
    onFailed(pool.name, error)
    void records.publishProblem(pool, problem).catch(() => {})
  }
  const forgetProblem = (poolId: string): void => {
    backOff.clear(poolId)
    problems.delete(poolId)
  }
  const prepareOne = (pool: PoolRecord): void => {
    const id = crypto.randomUUID()
    const { generation } = pool
    const fields = { id, name: `${pool.name}-${id.slice(0, 8)}`, pool: pool.id, generation, since: Date.now() }
    void begin(fields, 'prepare', async signal => {
      try {
        const member = await records.addMember({ ...fields, state: 'preparing' })
        await works.prepare(member, pool, signal)
        forgetProblem(pool.id)
      } catch (error) {
        if (!signal.aborted) noteProblem(pool, error)
      }
    })
  }
  const take = (poolId: string): MemberRecord | undefined => {
    const [member] = listReady(poolId)
    if (member) taken.add(member.id)
    return member
  }
  const fill = (pool: PoolRecord): void => {
    line.serve(pool.id, () => take(pool.id))
    // The document of a member that is about to be made is not stored at once.
    const starting = [...running].filter(
      ([id, { poolId, work }]) => poolId === pool.id && work === 'prepare' && !records.getMember(id),
    )
    const situation = {
      members: records.listMembers().filter(member => member.pool === pool.id),
      ready: listReady(pool.id),
      starting: starting.length,
      waiting: line.count(pool.id),
      now: Date.now(),
    }
    const surplus = findSurplus(pool, situation)
    if (surplus) void workOn(surplus, 'retire')
    else if (!backOff.isEarly(pool.id))
      for (let missing = countMissing(pool, situation); missing > 0; missing -= 1) prepareOne(pool)
  }
  const look = (): void => {
    isAwake = false
    if (isClosed) return
    for (const member of records.listMembers().filter(isFree)) {
      const work = planNext(member)
      if (work) void workOn(member, work)
    }
    records.listPools().forEach(fill)
  }
  const wake = (): void => {
    if (isAwake || isClosed) return
    isAwake = true
    setImmediate(look)
  }
  const removeOne = async ({ id }: MemberRecord): Promise<void> => {
    const making = running.get(id)
    making?.abort.abort(new Error('The machine is not needed any more.'))
    await making?.result.catch(() => {})
    const member = records.getMember(id)
    if (member?.state === 'leaving') await (running.get(id)?.result.catch(() => {}) ?? workOn(member, 'remove'))
  }

  return {
    wake,
    take,
    release({ id }) {
      taken.delete(id)
      wake()
    },
    handOver: member => running.get(member.id)?.result ?? begin(member, 'hand over', () => works.handOver(member)),
    retire: works.retire,
    async removeNow(members) {
      await Promise.all(members.map(removeOne))
    },
    findProblem: poolId => problems.get(poolId),
    forgetProblem,
    async close() {
      isClosed = true
      for (const { work, abort } of running.values()) if (work === 'prepare') abort.abort()
      await Promise.allSettled([...running.values()].map(({ result }) => result))
    },
  }
}
