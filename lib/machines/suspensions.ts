import * as z from 'zod'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Inventory } from './inventory.ts'
import { limits, type TransientState } from './states.ts'

/** A machine that the service has suspended for a while: on record, so that it also goes on after a kill. */
const Suspension = z.object({ id: z.uuid() })

interface How {
  readonly deadline: AbortSignal
  readonly show: (as: TransientState) => void
}

/** Machines that are suspended for as long as some work needs them still. */
export interface Suspensions {
  /**
   * Does the work of a machine's operation, which is shown as one that suspends, while the machine is suspended; it runs again
   * when this settles, however the work ended. Throws what suspending and the work throw, and that the machine could not be resumed.
   */
  during<T>(view: MachineView, how: How, work: () => Promise<T>): Promise<T>
  /** Begins to resume what a killed process has left suspended; gives, once that has begun, when it is over. */
  recover(resume: (id: string) => Promise<unknown>): Promise<{ readonly over: Promise<void> }>
}

interface Options {
  readonly store: Store
  readonly driver: HypervisorDriver
  readonly inventory: Inventory
  /** Is told of a machine that was left suspended and cannot be resumed. */
  readonly failed: (error: unknown) => void
}

export const createSuspensions = ({ store, driver, inventory, failed }: Options): Suspensions => {
  const records = store.collection('machine-suspensions', Suspension)
  const note = async (id: string): Promise<void> => {
    if (!(await records.get(id))) await store.commit([records.put({ id })])
  }
  const forget = (id: string): Promise<void> => store.commit([records.remove({ id })])

  const resume = async ({ id, name }: MachineView): Promise<void> => {
    // Not by the operation's deadline: that may be why the work has ended.
    const deadline = AbortSignal.timeout(limits.resume)
    try {
      inventory.accept(await driver.run(id, 'resume', { force: false, deadline }))
    } catch (error) {
      const fault = error instanceof ServiceError ? error.fault : 'upstream'
      const why = `${name} was suspended for this and could not be resumed: ${messageOf(error)}`
      throw new ServiceError(fault, why, { cause: error })
    }
  }

  return {
    async during(view, { deadline, show }, work) {
      const { id } = view
      await note(id)
      try {
        inventory.accept(await driver.run(id, 'suspend', { force: false, deadline }))
        show('cloning')
        return await work()
      } finally {
        show('resuming')
        try {
          if ((await driver.get(id))?.state === 'suspended') await resume(view)
        } finally {
          await forget(id)
        }
      }
    },
    async recover(resumeMachine) {
      const left = await records.list()
      const goOn = async ({ id }: { readonly id: string }): Promise<void> => {
        const view = inventory.all().find(one => one.id === id)
        try {
          if (view?.state === 'suspended') await resumeMachine(id)
        } catch (error) {
          // The service ends; its next start tries again.
          if (isFault(error, 'unavailable')) return
          failed(error)
        }
        await forget(id)
      }
      const over = Promise.all(left.map(one => goOn(one).catch(failed)))
      return { over: over.then(() => {}) }
    },
  }
}
