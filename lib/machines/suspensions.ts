import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Inventory } from './inventory.ts'
import type { UnderWay } from './operations.ts'
import { limits } from './states.ts'

/** A machine that the service has suspended for a while: on record, so that it also goes on after a kill. */
const Suspension = z.object({ id: z.uuid() })

/** Milliseconds that a resume may take when the service ends: its next start tries again. */
const atTheEnd = 60_000

/** Machines that are suspended for as long as some work needs them still. */
export interface Suspensions {
  /**
   * Does the work of a machine's operation, which is shown as one that suspends, while the machine is suspended; it runs again
   * when this settles, however the work ended, but for an operation that takes over. Throws what suspending and the work
   * throw, and that the machine could not be resumed.
   */
  during<T>(view: MachineView, deadline: AbortSignal, operation: UnderWay, work: () => Promise<T>): Promise<T>
  /**
   * Begins to resume what a killed process has left suspended; gives, once that has begun, when it is over, of all and of
   * one machine.
   */
  recover(resume: (id: string) => Promise<unknown>): Promise<Recovery>
  /** The service ends: what cannot be resumed any more is left to its next start. */
  close(): void
}

export interface Recovery {
  readonly over: Promise<void>
  of(id: string): Promise<void>
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

  let closing = false

  /** A driver's verb, within so many milliseconds. */
  const run = async (
    { id, name }: MachineView,
    verb: 'suspend' | 'resume',
    limit: number,
    ...until: readonly AbortSignal[]
  ): Promise<void> => {
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new ServiceError('timeout', `To ${verb} ${name} took longer than ${limit / 1000} seconds.`)),
      limit,
    )
    try {
      inventory.accept(await driver.run(id, verb, { force: false, deadline: AbortSignal.any([late.signal, ...until]) }))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Resumes what was suspended. Throws why it could not be; then it is noted still if the service ends. */
  const goOn = async (view: MachineView, { show, isTakenOver }: UnderWay): Promise<void> => {
    show('resuming')
    try {
      // Not until the operation's deadline: that may be why the work has ended.
      if (!isTakenOver() && (await driver.get(view.id))?.state === 'suspended')
        await run(view, 'resume', closing ? atTheEnd : limits.resume)
    } catch (error) {
      if (closing) throw new ServiceError('unavailable', `${view.name} is resumed at the next start.`, { cause: error })
      await forget(view.id)
      const fault = error instanceof ServiceError ? error.fault : 'upstream'
      const why = `${view.name} was suspended for this and could not be resumed: ${messageOf(error)}`
      throw new ServiceError(fault, why, { cause: error })
    }
    await forget(view.id)
  }

  return {
    async during(view, deadline, operation, work) {
      await note(view.id)
      try {
        await run(view, 'suspend', limits.suspend, deadline)
        operation.show('cloning')
        return await work()
      } finally {
        await goOn(view, operation)
      }
    },
    async recover(resumeMachine) {
      const left = await records.list()
      const isSuspended = (id: string): boolean =>
        inventory.all().some(view => view.id === id && view.state === 'suspended')
      const recovered = async (id: string): Promise<void> => {
        try {
          if (isSuspended(id)) await resumeMachine(id)
        } catch (error) {
          if (closing) return
          // Somebody may have stopped it by force, and that is well.
          if (isSuspended(id)) failed(error)
        }
        await forget(id)
      }
      const ends = new Map(left.map(({ id }) => [id, recovered(id).catch(failed)]))
      return { over: Promise.all(ends.values()).then(() => {}), of: id => ends.get(id) ?? Promise.resolve() }
    },
    close() {
      closing = true
    },
  }
}
