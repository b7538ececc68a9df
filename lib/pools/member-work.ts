import { isFault } from '#lib/errors.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { MachineRecord } from '#lib/machines/record.ts'
import type { MemberRecord, PoolRecord, PoolRecords } from './records.ts'

/** The calls with which pools act on machines. */
export type PoolMachines = Pick<Machines, 'members' | 'remove' | 'showStatus'> & {
  show(id: string): Pick<MachineRecord, 'labels'>
}

interface Options {
  readonly records: PoolRecords
  readonly machines: PoolMachines
}

/** What is done with one member. Each step is stored before or after its effect so that a kill in between repeats it. */
export interface MemberWorks {
  /** Makes a machine for a pool. Throws why there is none; then the member leaves. */
  prepare(member: MemberRecord, pool: PoolRecord, signal: AbortSignal): Promise<void>
  /** Takes a member out of its pool: nobody can claim it any more. */
  retire(member: MemberRecord): Promise<void>
  /** Deletes the machine of a member that leaves, and then the member. */
  remove(member: MemberRecord): Promise<void>
  /** Gives the machine of a claimed member to its owner. */
  handOver(member: MemberRecord): Promise<void>
}

export const createMemberWorks = ({ records, machines }: Options): MemberWorks => {
  /** Changes the state of a member, unless it is another one meanwhile because its pool was deleted. */
  const advance = async (
    { id, state }: MemberRecord,
    change: Parameters<PoolRecords['changeMember']>[1],
  ): Promise<void> => {
    const member = records.getMember(id)
    if (member?.state === state) await records.changeMember(member, change)
  }
  const retire: MemberWorks['retire'] = member => advance(member, { state: 'leaving', claim: undefined })

  return {
    async prepare(member, { from, template, until, source_id: sourceId, snapshot_id: snapshotId }, signal) {
      const { id, name } = member
      try {
        await machines.members.make({ id, name }, { from, template, until, sourceId, snapshotId }, signal)
        await advance(member, { state: 'ready' })
      } catch (error) {
        await retire(member)
        throw error
      }
    },
    retire,
    async remove(member) {
      await machines.remove(member.id, { force: true }).catch((error: unknown) => {
        if (!isFault(error, 'not-found')) throw error
      })
      await records.dropMember(member)
    },
    async handOver(member) {
      const { id, claim } = member
      if (!claim) throw new Error(`${member.name} has no claim.`)
      const { user: owner, labels, expires_at } = claim
      // It has been done if the machine belongs to somebody, who may have changed it since.
      if (machines.members.find(id)?.owner === undefined)
        await machines.members.handOver(id, { owner, labels, expires_at })
    },
  }
}
