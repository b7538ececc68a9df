import type { Principal } from '#lib/access/principal.ts'
import type { StableState } from '#lib/hypervisor/driver.ts'
import type { MachineContext } from '../context.ts'
import type { WaitContext } from '../wait/context.ts'
import { changeLifecycle } from './change-lifecycle.ts'
import { makeMember, type MemberIdentity } from './make-member.ts'
import { type MemberPlan, type MemberRequest, planMembers } from './plan.ts'

/** What a machine of a pool gets when it is claimed. */
export interface NewOwner {
  /** The id of a user. */
  readonly owner: string
  /** They are added to those of the machine. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The time at which the service deletes the machine (RFC 3339); never when left out. */
  readonly expires_at?: string | undefined
}

/** A machine of a pool, as it is. */
export interface MemberMachine {
  /** The state without the operation that runs on it. */
  readonly state: StableState
  /** The id of the user to whom it was given. */
  readonly owner: string | undefined
}

/** The calls with which pools make their machines and give them away. */
export interface Members {
  /** Checks what a user asks the machines of a pool to be (see `planMembers`). */
  plan(caller: Principal, request: MemberRequest): Promise<MemberPlan>
  /** Makes a machine that is ready (see `makeMember`). */
  make(member: MemberIdentity, plan: MemberPlan, signal: AbortSignal): Promise<void>
  /** Gives a machine to a user, wholly or not at all. Throws as `changeLifecycle` does. */
  handOver(id: string, to: NewOwner): Promise<void>
  /** Finds a machine; undefined when it is gone. */
  find(id: string): MemberMachine | undefined
  /** Calls `onChange` after each change of a machine, until disposed. */
  watch(onChange: () => void): Disposable
}

interface Options {
  readonly context: MachineContext
  readonly waiting: WaitContext
  /** Settles as a call does, after the events of the call are stored. */
  readonly afterEvents: <T>(call: PromiseLike<T>) => Promise<T>
}

export const createMembers = ({ context, waiting, afterEvents }: Options): Members => ({
  plan: (caller, request) => planMembers(context, caller, request),
  make: (member, plan, signal) => afterEvents(makeMember(context, waiting, member, plan, signal)),
  handOver: (id, { owner, labels, expires_at }) =>
    afterEvents(
      changeLifecycle(context, id, definition => ({
        ...definition,
        owner,
        ...(labels && { labels: { ...definition.labels, ...labels } }),
        ...(expires_at !== undefined && { expires_at }),
      })),
    ),
  find(id) {
    const view = context.inventory.get(id)
    return view && { state: view.state, owner: view.definition.owner }
  },
  watch: waiting.watchers.watch,
})
