import * as z from 'zod'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Inventory } from './inventory.ts'
import type { OperationControl } from './operation.ts'
import { timeLimits } from './states.ts'

/** A machine that the service has suspended. It is stored, so that the next start resumes it after a kill. */
const Suspension = z.object({ id: z.uuid() })

/** Milliseconds that a resume may take during the shutdown. If it takes longer, the next start tries again. */
const shutdownResumeLimit = 60_000

/** Suspends machines for the duration of some work. */
export interface Suspensions {
  /**
   * Suspends the machine of an operation, does the work and resumes the machine, also after a failure. Does not resume it if
   * the operation is preempted. Throws what the suspension and the work throw. If the machine could not be resumed, throws
   * that instead.
   */
  runWhileSuspended<T>(
    view: MachineView,
    deadline: AbortSignal,
    control: OperationControl,
    work: () => Promise<T>,
  ): Promise<T>
  /** Starts to resume the machines that a killed process left suspended. */
  recover(resumeMachine: (id: string) => Promise<unknown>): Promise<SuspensionRecovery>
  /** Called when the service shuts down. Machines that cannot be resumed any more are left to the next start. */
  close(): void
}

/** The machines that a start resumes. */
export interface SuspensionRecovery {
  /** Settles when no machine is left. */
  readonly finished: Promise<void>
  /** Waits until this machine is resumed, or cannot be. Settles at once for a machine that needs no recovery. */
  waitFor(id: string): Promise<void>
}

interface Options {
  readonly store: Store
  readonly driver: HypervisorDriver
  readonly inventory: Inventory
  /** Called when the recovery cannot resume a machine. */
  readonly onResumeFailed: (error: unknown) => void
}

export const createSuspensions = ({ store, driver, inventory, onResumeFailed }: Options): Suspensions => {
  const records = store.collection('machine-suspensions', Suspension)
  const addRecord = async (id: string): Promise<void> => {
    if (!(await records.get(id))) await store.commit([records.put({ id })])
  }
  const removeRecord = (id: string): Promise<void> => store.commit([records.remove({ id })])

  let isClosing = false

  const runVerb = async (
    { id, name }: MachineView,
    verb: 'suspend' | 'resume',
    timeLimit: number,
    signal?: AbortSignal,
  ): Promise<void> => {
    const message = `To ${verb} ${name} took longer than ${timeLimit / 1000} seconds.`
    using limit = createTimeLimit(timeLimit, message, signal)
    inventory.update(await driver.run(id, verb, { force: false, deadline: limit.signal }))
  }

  /** Resumes a machine. Throws if that fails; during a shutdown its record stays, so that the next start tries again. */
  const resume = async (view: MachineView, control: OperationControl): Promise<void> => {
    control.setTransientState('resuming')
    try {
      // The deadline of the operation does not apply, because it may be the reason why the work has ended.
      if (!control.isPreempted() && (await driver.get(view.id))?.state === 'suspended')
        await runVerb(view, 'resume', isClosing ? shutdownResumeLimit : timeLimits.resume)
    } catch (error) {
      if (isClosing)
        throw new ServiceError('unavailable', `${view.name} is resumed at the next start.`, { cause: error })
      await removeRecord(view.id)
      const fault = error instanceof ServiceError ? error.fault : 'upstream'
      const message = `${view.name} was suspended for this and could not be resumed: ${messageOf(error)}`
      throw new ServiceError(fault, message, { cause: error })
    }
    await removeRecord(view.id)
  }

  return {
    async runWhileSuspended(view, deadline, control, work) {
      await addRecord(view.id)
      try {
        await runVerb(view, 'suspend', timeLimits.suspend, deadline)
        control.setTransientState('cloning')
        return await work()
      } finally {
        await resume(view, control)
      }
    },
    async recover(resumeMachine) {
      const isSuspended = (id: string): boolean =>
        inventory.listViews().some(view => view.id === id && view.state === 'suspended')
      const recoverMachine = async (id: string): Promise<void> => {
        try {
          if (isSuspended(id)) await resumeMachine(id)
        } catch (error) {
          if (isClosing) return
          // A forced stop may have ended the resume; then there is nothing to report.
          if (isSuspended(id)) onResumeFailed(error)
        }
        await removeRecord(id)
      }
      const suspended = await records.list()
      const recoveries = new Map(suspended.map(({ id }) => [id, recoverMachine(id).catch(onResumeFailed)]))
      return {
        finished: Promise.all(recoveries.values()).then(() => {}),
        waitFor: async id => recoveries.get(id),
      }
    },
    close() {
      isClosing = true
    },
  }
}
