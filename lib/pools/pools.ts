import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { MemberPlan } from '#lib/machines/members/plan.ts'
import type { Store } from '#lib/storage/store.ts'
import { type ClaimOptions, createClaimMember } from './claims.ts'
import { createKeeper } from './keeper.ts'
import { createLine } from './line.ts'
import type { PoolMachines } from './member-work.ts'
import { openPoolRecords, type PoolRecord } from './records.ts'
import type { ClaimedMachine, ClaimRequest, NewPool, Pool, PoolDefinition } from './schemas.ts'
import { viewPool } from './view-pool.ts'

/** Pools of machines that run and wait for somebody. `name` is that of a pool, in any case. */
export interface Pools {
  /** All pools, ordered by name. */
  list(): readonly Pool[]
  /** Throws `not-found`. */
  show(name: string): Pool
  /** Defines a pool, which then makes its machines. Throws `conflict` for a name in use, and as `planMembers`. */
  create(caller: Principal, request: NewPool): Promise<Pool>
  /** Replaces the definition of a pool. If it makes other machines then, its ready ones are replaced. Throws as `create`. */
  update(caller: Principal, name: string, definition: PoolDefinition): Promise<Pool>
  /** Deletes a pool. Claimed machines stay; the ready ones are deleted, or belong to nobody with `keep`. */
  remove(name: string, members: 'delete' | 'keep'): Promise<Pool>
  /** Gives a machine of a pool to the caller (see `ClaimMember`). */
  claim(caller: Principal, name: string, request: ClaimRequest, options: ClaimOptions): Promise<ClaimedMachine>
  /** Ends the waits of claims and the making of machines. */
  close(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly machines: PoolMachines
  readonly every: Every
  /** Called when work on a machine of a pool has failed. It is tried again. */
  readonly onFailed: (pool: string, error: unknown) => void
}

/** Milliseconds between two looks for machines that are too old, and for work that has failed. */
const lookInterval = 1_000

/** Opens the pools of a host, and completes what a kill has interrupted. */
/** Returns what a stored pool has of the plan of its members. */
const toSource = ({ sourceId, snapshotId }: MemberPlan): Pick<PoolRecord, 'source_id' | 'snapshot_id'> => ({
  ...(sourceId !== undefined && { source_id: sourceId }),
  ...(snapshotId !== undefined && { snapshot_id: snapshotId }),
})

export const openPools = async ({ store, publish, machines, every, onFailed }: Options): Promise<Pools> => {
  const records = await openPoolRecords(store, publish)
  const line = createLine()
  const keeper = createKeeper({ records, machines, line, onFailed })
  const claimMember = createClaimMember({ records, keeper, line })
  const watch = machines.members.watch(keeper.wake)
  const timer = every(lookInterval, keeper.wake)
  keeper.wake()

  const listMembers = (poolId: string) => records.listMembers().filter(member => member.pool === poolId)
  const toView = (pool: PoolRecord): Pool =>
    viewPool(pool, {
      members: listMembers(pool.id),
      waiting: line.count(pool.id),
      problem: keeper.findProblem(pool.id),
    })
  const show = (name: string): Pool => toView(records.findPool(name))

  return {
    list: () => records.listPools().map(toView),
    show,
    async create(caller, request) {
      const source = toSource(await machines.members.plan(caller, request))
      await records.addPool({
        ...request,
        id: crypto.randomUUID(),
        ...source,
        generation: 1,
        created_at: new Date().toISOString(),
        created_by: caller.id,
      })
      keeper.wake()
      return show(request.name)
    },
    async update(caller, name, definition) {
      records.findPool(name)
      const source = toSource(await machines.members.plan(caller, definition))
      const { id, rev, generation, created_at, created_by, name: ownName, ...before } = records.findPool(name)
      const next: typeof before = { ...definition, ...source }
      const isSame = [before, next]
        .map(({ from, template, until, source_id, snapshot_id }) =>
          JSON.stringify([from, template, until, source_id, snapshot_id]),
        )
        .every((text, _, [first]) => text === first)
      await records.replacePool({
        ...next,
        id,
        rev,
        name: ownName,
        generation: generation + (isSame ? 0 : 1),
        created_at,
        created_by,
      })
      keeper.forgetProblem(id)
      keeper.wake()
      return show(name)
    },
    async remove(name, choice) {
      for (;;) {
        const pool = records.findPool(name)
        const view = toView(pool)
        const members = listMembers(pool.id)
        const kept = members.filter(({ state }) => state === 'ready' && choice === 'keep')
        const given = members.filter(({ id, state }) => state === 'claimed' && machines.members.find(id)?.owner)
        const leaving = members.filter(({ id, state }) => state !== 'claimed' && !kept.some(each => each.id === id))
        try {
          await records.removePool(pool, { leave: leaving, drop: [...kept, ...given] })
        } catch (error) {
          // A member has changed meanwhile. The next turn knows what it is now.
          if (!isFault(error, 'conflict')) throw error
          await nextTurn()
          continue
        }
        line.reject(new ServiceError('not-found', `The pool ${pool.name} was deleted.`), pool.id)
        keeper.forgetProblem(pool.id)
        await keeper.removeNow(leaving)
        keeper.wake()
        return view
      }
    },
    async claim(caller, name, request, options) {
      const pool = records.findPool(name)
      const { id, name: machine, claim } = await claimMember(pool, caller, request, options)
      const { status, ip_configured } = machines.showStatus(id)
      const { labels = {} } = machines.show(id)
      return {
        id,
        name: machine,
        owner: caller.username,
        pool: pool.name,
        current_state: status,
        ip_configured,
        labels,
        ...(claim?.expires_at !== undefined && { expires_at: claim.expires_at }),
      }
    },
    async close() {
      timer[Symbol.dispose]()
      watch[Symbol.dispose]()
      line.reject(new ServiceError('unavailable', 'The service is shutting down; try again when it is back.'))
      await keeper.close()
    },
  }
}
