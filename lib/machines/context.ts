import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView, StableState } from '#lib/hypervisor/driver.ts'
import type { LeaseImage } from './images/leased-image.ts'
import type { Inventory } from './inventory.ts'
import type { NameReservations } from './name-reservations.ts'
import type { OperationControl, OperationMode } from './operation.ts'
import type { Operations } from './operations.ts'
import type { Host } from './record.ts'
import type { Suspensions } from './suspensions.ts'
import {
  type Action,
  guardTable,
  type OperationKind,
  sharedKinds,
  timeLimits,
  type Transition,
  transientStates,
} from './states.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'

/** An entry of the guard table that does not refuse the action. */
export type AllowedTransition = Exclude<Transition, 'refuse'>

interface MachineOperation {
  /** The machine as the caller found it. The guard table is asked again when the operation starts. */
  readonly view: MachineView
  readonly action: Action
  /** The state that messages name, if it is not the transient state. */
  readonly label?: string
  readonly key: string
  readonly chooseKind: (transition: AllowedTransition) => OperationKind
  /** Milliseconds; default: the time limit of the kind. */
  readonly timeLimit?: number | undefined
  /** A sentence for the message at the time limit: what else the caller can do. */
  readonly timeoutAdvice?: string | undefined
  /** True if the operation cancels the running ones and takes their place. */
  readonly isForced?: boolean
  readonly progress?: Pick<ProgressReporter, 'signal' | 'waitLimit'> | undefined
  /** Does the work. Returns the new view of the machine, or undefined if the machine was deleted. */
  readonly work: (
    current: { readonly view: MachineView; readonly transition: AllowedTransition },
    deadline: AbortSignal,
    control: OperationControl,
  ) => Promise<MachineView | undefined>
}

/** The parts that the files of this folder share. */
export interface MachineContext {
  readonly driver: HypervisorDriver
  readonly inventory: Inventory
  readonly operations: Operations
  readonly names: NameReservations
  readonly suspensions: Suspensions
  readonly host: Host
  /** Addresses of the host, beside the loopback, that forwards may be opened on. */
  readonly forwardAddresses: readonly string[]
  readonly leaseImage: LeaseImage
  /** Returns the entry of the guard table for an action on a machine in this state. Throws `conflict` if it refuses. */
  checkAction(view: MachineView, action: Action): AllowedTransition
  /**
   * Runs an operation of a machine, and updates the inventory afterwards, also after a failure. The guard table is asked when
   * the operation starts; an entry `already` ends it without work. Throws what the guard table, the wait for a busy machine
   * and the work throw.
   */
  runOperation(operation: MachineOperation): Promise<void>
}

/** Returns the end of a refusal: how to get to a state that allows the action, if a stop does that. */
const formatHint = (state: StableState, action: Action): string => {
  if (state === 'invalid' || guardTable.stopped[action] !== 'run') return ''
  const byForce = guardTable[state].stop === 'run' ? '' : ', by force'
  const canSuspend = action === 'export' && guardTable[state]['export suspend'] !== 'refuse'
  return `; stop it first${byForce}${canSuspend ? ', or ask for `suspend`' : ''}`
}

/** Returns the name of an action in messages. Callers know an export only as a part of their push. */
const formatAction = (action: Action): string => {
  const [verb = ''] = action.split(' ')
  return verb === 'export' ? 'a push' : verb
}

/** Adds the checks of the guard table to the parts that the files of this folder share. */
export const createContext = (parts: Omit<MachineContext, 'checkAction' | 'runOperation'>): MachineContext => {
  const { driver, inventory, operations } = parts
  const checkAction: MachineContext['checkAction'] = (view, action) => {
    const transition = guardTable[view.state][action]
    if (transition === 'refuse' || (transition === 'feature' && !driver.features.cloneRunning))
      throw new ServiceError(
        'conflict',
        `${view.name} is ${view.state}, so ${formatAction(action)} is not possible now${formatHint(view.state, action)}.`,
      )
    return transition
  }
  return {
    ...parts,
    checkAction,
    runOperation({ view, action, label, key, chooseKind, isForced = false, progress = {}, work, ...limit }) {
      const { id, name } = view
      const toMode = (transition: AllowedTransition): OperationMode => {
        const kind = chooseKind(transition)
        return {
          transientState: transientStates[kind],
          isShared: sharedKinds.has(kind),
          timeLimit: limit.timeLimit ?? timeLimits[kind],
          timeoutAdvice: limit.timeoutAdvice,
        }
      }
      const { signal, waitLimit } = progress
      return operations.run({
        id,
        name,
        label,
        key,
        chooseMode(isPreempting) {
          const transition = isPreempting ? 'run' : checkAction(inventory.find(id), action)
          return transition === 'already' ? undefined : toMode(transition)
        },
        isForced,
        signal,
        // A request waits at most as long as the operation itself may take.
        waitLimit: waitLimit && {
          ...waitLimit,
          milliseconds: Math.min(waitLimit.milliseconds, toMode('run').timeLimit),
        },
        async work(deadline, control) {
          try {
            const current = inventory.find(id)
            const transition = checkAction(current, action)
            const changed =
              transition === 'already' ? current : await work({ view: current, transition }, deadline, control)
            if (changed) inventory.update(changed)
            else inventory.remove(id)
          } catch (error) {
            await inventory.refresh(id)
            throw error
          }
        },
      })
    },
  }
}
