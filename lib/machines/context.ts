import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView, StableState } from '#lib/hypervisor/driver.ts'
import type { Inventory } from './inventory.ts'
import type { Names } from './names.ts'
import type { Mode, Operations, UnderWay } from './operations.ts'
import type { Host } from './record.ts'
import type { Suspensions } from './suspensions.ts'
import { type Action, type Cell, guard, type Kind, limits, shared, transient } from './states.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'

/** What the guard table says where it does not refuse. */
export type Allowed = Exclude<Cell, 'refuse'>

interface Operation {
  /** The machine as it was found; what is done is judged by how it is when its turn comes. */
  readonly view: MachineView
  readonly action: Action
  /** What messages say that the machine is, where that is not what it is shown as. */
  readonly said?: string
  readonly key: string
  /** What it is by what the guard table says of the action. */
  readonly kind: (cell: Allowed) => Kind
  /** Milliseconds that it may take, where that is not the usual limit. */
  readonly limit?: number | undefined
  readonly takesOver?: boolean
  readonly follow?: Pick<ProgressReporter, 'signal' | 'waitLimit'>
  /** Gives the machine's view afterwards, or undefined when it is gone. */
  readonly work: (
    now: { readonly view: MachineView; readonly cell: Allowed },
    deadline: AbortSignal,
    operation: UnderWay,
  ) => Promise<MachineView | undefined>
}

/** What the verbs of this folder share. */
export interface MachineContext {
  readonly driver: HypervisorDriver
  readonly inventory: Inventory
  readonly operations: Operations
  readonly names: Names
  readonly suspensions: Suspensions
  readonly host: Host
  /** What the guard table says of an action on the machine as it is. Throws `conflict` where that is to refuse. */
  cell(view: MachineView, action: Action): Allowed
  /**
   * Does an action as an operation of the machine and takes in what came of it, also when it failed. The guard table is asked
   * when its turn comes; where it says `already` nothing is done.
   */
  operate(operation: Operation): Promise<void>
}

/** What to do to have an action that a stopped machine lets happen. */
const wayOut = (state: StableState, action: Action): string => {
  if (state === 'invalid' || guard.stopped[action] !== 'run') return ''
  const byForce = guard[state].stop === 'run' ? '' : ', by force'
  const other = action === 'export' && guard[state]['export suspend'] !== 'refuse' ? ', or ask for `suspend`' : ''
  return `; stop it first${byForce}${other}`
}

/** What messages call an action: an export is part of a push, and only that is known to who asked for it. */
const wordOf = (action: Action): string => {
  const [verb = ''] = action.split(' ')
  return verb === 'export' ? 'a push' : verb
}

export const createContext = (parts: Omit<MachineContext, 'cell' | 'operate'>): MachineContext => {
  const { driver, inventory, operations } = parts
  const judge: MachineContext['cell'] = (view, action) => {
    const cell = guard[view.state][action]
    if (cell === 'refuse' || (cell === 'feature' && !driver.features.cloneRunning))
      throw new ServiceError(
        'conflict',
        `${view.name} is ${view.state}, so ${wordOf(action)} is not possible now${wayOut(view.state, action)}.`,
      )
    return cell
  }
  return {
    ...parts,
    cell: judge,
    operate({ view: { id, name }, action, said, key, kind, limit, takesOver = false, follow = {}, work }) {
      const modeOf = (cell: Allowed): Mode => {
        const what = kind(cell)
        return { shown: transient[what], shared: shared.has(what), limit: limit ?? limits[what] }
      }
      const { signal, waitLimit } = follow
      return operations.run({
        id,
        name,
        said,
        key,
        enter(takingOver) {
          const cell = takingOver ? 'run' : judge(inventory.find(id), action)
          return cell === 'already' ? undefined : modeOf(cell)
        },
        takesOver,
        signal,
        // Nobody waits longer for the machine than the operation itself may take.
        patience: waitLimit && {
          ...waitLimit,
          milliseconds: Math.min(waitLimit.milliseconds, modeOf('run').limit),
        },
        async work(deadline, operation) {
          try {
            const view = inventory.find(id)
            const cell = judge(view, action)
            const after = cell === 'already' ? view : await work({ view, cell }, deadline, operation)
            if (after) inventory.accept(after)
            else inventory.forget(id)
          } catch (error) {
            await inventory.refresh(id)
            throw error
          }
        },
      })
    },
  }
}
