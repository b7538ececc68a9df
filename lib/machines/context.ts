import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView, StableState } from '#lib/hypervisor/driver.ts'
import type { Inventory } from './inventory.ts'
import type { Names } from './names.ts'
import type { Operations, UnderWay } from './operations.ts'
import type { Host } from './record.ts'
import type { Suspensions } from './suspensions.ts'
import { type Action, type Cell, guard, transient } from './states.ts'

interface Work {
  readonly view: MachineView
  /** What messages say that the machine is, where that is not what it is shown as. */
  readonly said?: string
  readonly key: string
  readonly kind: keyof typeof transient
  readonly limit: number
  readonly takesOver?: boolean
  readonly signal?: AbortSignal | undefined
  /** Gives the machine's view afterwards, or undefined when it is gone. */
  readonly work: (deadline: AbortSignal, operation: UnderWay) => Promise<MachineView | undefined>
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
  cell(view: MachineView, action: Action): Exclude<Cell, 'refuse'>
  /** Runs work as the machine's one operation and takes in what came of it, also when it failed. */
  operate(work: Work): Promise<void>
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
  return {
    ...parts,
    cell(view, action) {
      const cell = guard[view.state][action]
      if (cell === 'refuse' || (cell === 'feature' && !driver.features.cloneRunning))
        throw new ServiceError(
          'conflict',
          `${view.name} is ${view.state}, so ${wordOf(action)} is not possible now${wayOut(view.state, action)}.`,
        )
      return cell
    },
    operate: ({ view, said, key, kind, limit, takesOver = false, signal, work }) =>
      operations.run({
        id: view.id,
        name: view.name,
        said,
        key,
        shown: transient[kind],
        limit,
        takesOver,
        signal,
        work: async (deadline, operation) => {
          try {
            const after = await work(deadline, operation)
            if (after) inventory.accept(after)
            else inventory.forget(view.id)
          } catch (error) {
            await inventory.refresh(view.id)
            throw error
          }
        },
      }),
  }
}
