import type { Publish } from '#lib/events/events.ts'
import type { HypervisorDriver, MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import { importMachine, type ImportedMachine } from './import.ts'
import { cloneMachine } from './clone.ts'
import { createContext } from './context.ts'
import { createMachine } from './create.ts'
import { type ExportHandle, exportMachine, type ExportOptions } from './export.ts'
import { createInventory } from './inventory.ts'
import { createNameReservations } from './name-reservations.ts'
import { describeProblem } from './network.ts'
import { createOperations } from './operations.ts'
import { createPublisher, type VisibleMachine } from './publisher.ts'
import { type Host, toMachineRecord, type MachineRecord } from './record.ts'
import type { Store } from '#lib/storage/store.ts'
import { abortable } from '#lib/async/abortable.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { removeMachine } from './remove.ts'
import { runVerb } from './run.ts'
import type { CreatedMachine, CreateMachine, MachineStatus, OperationResult, SetMachine, SetResult } from './schemas.ts'
import { setMachine } from './set.ts'
import { createSuspensions } from './suspensions.ts'

/** Options of a call that may take long: its progress, its cancellation, and how long it waits for a busy machine. */
interface LongCall {
  readonly progress?: ProgressReporter
}

/** The machines of this host. A `reference` is a UUID or a name, in any case. */
export interface Machines {
  /** Returns the records of all machines, ordered by name, as an encoded JSON array. */
  list(): PreparedBody
  /** Returns the number of machines per state. */
  countByState(): Readonly<Record<string, number>>
  /** Returns the record of a machine. Throws `not-found`. */
  show(reference: string): MachineRecord
  /** Returns the state and the address of a machine. Throws `not-found`. */
  showStatus(reference: string): MachineStatus
  /** Returns the id of the machine with this folder: an absolute path without symbolic links. */
  findByHome(home: string): string | undefined
  /** Throws `conflict` if a machine other than the one with this id has the name. */
  checkName(name: string, id?: string): void
  /** Runs a verb and settles when its state is reached (see `runVerb`). */
  run(reference: string, verb: Verb, options?: LongCall & { readonly force?: boolean }): Promise<OperationResult>
  /** Creates a machine (see `createMachine`). */
  create(request: CreateMachine): Promise<CreatedMachine>
  /** Clones a machine and returns the id of the clone (see `cloneMachine`). */
  clone(reference: string, name: string, options: LongCall & { readonly linked: boolean }): Promise<string>
  /**
   * Opens the files of a machine (see `exportMachine`). First waits until a machine that a killed process left suspended is
   * resumed.
   */
  export(reference: string, options: ExportOptions): Promise<ExportHandle>
  /** Creates a machine from the files that `populate` writes into a folder (see `importMachine`). */
  import(
    request: LongCall & { readonly name: string },
    populate: (folder: string) => Promise<void>,
  ): Promise<ImportedMachine>
  /** Changes the definition of a machine (see `setMachine`). */
  set(reference: string, request: SetMachine, options: LongCall & { readonly dryRun: boolean }): Promise<SetResult>
  /** Deletes a machine (see `removeMachine`). */
  remove(reference: string, options: LongCall & { readonly force: boolean }): Promise<void>
  /** Creates the demo machine of a fresh installation. */
  createDemo(): Promise<void>
  /**
   * Refuses new operations and cancels the running ones. Throws `timeout` at the deadline, with the machines that are still
   * busy.
   */
  drain(deadline?: AbortSignal): Promise<void>
  /** Drains, then closes the driver, which saves the machines that cannot run without the service until the deadline. */
  close(deadline?: AbortSignal): Promise<void>
}

interface Options {
  readonly driver: HypervisorDriver
  readonly host: Host
  /** Milliseconds that a guest has to shut down. */
  readonly stopTimeout: number
  readonly store: Store
  readonly publish: Publish
  /** Called when an event could not be stored. */
  readonly onPublishFailed: (error: unknown) => void
  /** Called when a machine that a killed process left suspended cannot be resumed. */
  readonly onResumeFailed: (error: unknown) => void
}

/** Opens the driver and its machines, and publishes what changed while the service was down. */
export const openMachines = async ({
  driver,
  host,
  stopTimeout,
  store,
  publish,
  onPublishFailed,
  onResumeFailed,
}: Options): Promise<Machines> => {
  const operations = createOperations(id => inventory.invalidate(id))
  const { getTransientState } = operations
  const toVisible = (view: MachineView): VisibleMachine => ({ view, state: getTransientState(view.id) ?? view.state })
  const toRecord = (view: MachineView, now?: number): MachineRecord =>
    toMachineRecord(view, getTransientState(view.id), host, driver.platform, now)
  const publisher = createPublisher({ store, publish, toRecord: ({ view }) => toRecord(view), onPublishFailed })
  let isOpen = false
  const inventory = createInventory({
    driver,
    host,
    getTransientState,
    onChange(id, view) {
      if (isOpen) publisher.publishChanges(id, view && toVisible(view))
    },
  })
  const names = createNameReservations(inventory.listViews)
  const suspensions = createSuspensions({ store, driver, inventory, onResumeFailed })
  const context = createContext({ driver, inventory, operations, names, suspensions, host })
  await inventory.open()
  await publisher.open(inventory.listViews().map(toVisible))
  isOpen = true
  const recovery = await suspensions.recover(id => runVerb(context, id, 'resume'))

  let draining: Promise<void> | undefined
  const drain = (deadline?: AbortSignal): Promise<void> => {
    suspensions.close()
    draining ??= operations.close(deadline)
    return draining
  }

  /** Settles as the call does, but after its events are stored: a client that has the reply finds them in the log. */
  const afterEvents = async <T>(call: PromiseLike<T>): Promise<T> => {
    try {
      return await call
    } finally {
      await publisher.flush()
    }
  }

  return {
    list: inventory.encodeList,
    countByState() {
      const states = inventory.listViews().map(view => toVisible(view).state)
      return Object.fromEntries([...Map.groupBy(states, state => state)].map(([state, same]) => [state, same.length]))
    },
    show: reference => toRecord(inventory.find(reference), Date.now()),
    showStatus(reference) {
      const view = inventory.find(reference)
      const problem = describeProblem(view, driver.platform)
      return {
        id: view.id,
        status: getTransientState(view.id) ?? view.state,
        ip_configured: view.addresses[0]?.ip ?? '-',
        ...(problem !== undefined && { problem }),
      }
    },
    findByHome: home => inventory.listViews().find(view => view.home === home)?.id,
    checkName: (name, id) => names.reserve(name, id)[Symbol.dispose](),
    run: (reference, verb, options) => afterEvents(runVerb(context, reference, verb, { ...options, stopTimeout })),
    create: request => afterEvents(createMachine(context, request)),
    clone: (reference, name, options) => afterEvents(cloneMachine(context, reference, name, options)),
    async export(reference, options) {
      // A job that a kill interrupted is resumed, and must find the machine in the state that it had then.
      await abortable(recovery.waitFor(inventory.find(reference).id), options.progress?.signal)
      const exported = await afterEvents(exportMachine(context, reference, options))
      return { ...exported, [Symbol.asyncDispose]: () => afterEvents(exported[Symbol.asyncDispose]()) }
    },
    import: (request, populate) => afterEvents(importMachine(context, request, populate)),
    set: (reference, request, options) => afterEvents(setMachine(context, reference, request, options)),
    remove: (reference, options) => afterEvents(removeMachine(context, reference, options)),
    async createDemo() {
      inventory.update(await driver.createDemo())
    },
    drain,
    async close(deadline) {
      // The caller of `drain` has reported the operations that did not end. The driver is closed all the same.
      await drain(deadline).then(
        () => abortable(recovery.finished, deadline),
        () => {},
      )
      await driver.close(deadline)
      await publisher.flush()
    },
  }
}
