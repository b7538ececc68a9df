import type { Publish } from '#lib/events/events.ts'
import type { HypervisorDriver, MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import { adoptMachine, type AdoptedMachine } from './import.ts'
import { cloneMachine } from './clone.ts'
import { createContext } from './context.ts'
import { createMachine } from './create.ts'
import { exportMachine, type LentMachine } from './export.ts'
import { createInventory } from './inventory.ts'
import { createNames } from './names.ts'
import { problemOf } from './network.ts'
import { createOperations } from './operations.ts'
import { createPublisher, type Shown } from './publisher.ts'
import { type Host, machineRecord, type MachineRecord } from './record.ts'
import type { Store } from '#lib/storage/store.ts'
import { abortable } from '#lib/async/abortable.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { removeMachine } from './remove.ts'
import { runVerb } from './run.ts'
import type { CreatedMachine, CreateMachine, MachineStatus, OperationResult, SetMachine, SetResult } from './schemas.ts'
import { setMachine } from './set.ts'
import { createSuspensions } from './suspensions.ts'

/** The machines of this host. A `reference` is a UUID or a name, in any case. */
export interface Machines {
  list(): PreparedBody
  /** How many machines are in each state. */
  counts(): Readonly<Record<string, number>>
  show(reference: string): MachineRecord
  status(reference: string): MachineStatus
  /** The id of the machine whose folder this is: absolute, with no link in it. */
  at(home: string): string | undefined
  /** Throws `conflict` where a machine has the name already, other than the one of this id. */
  checkName(name: string, id?: string): void
  run(reference: string, verb: Verb, how?: { force?: boolean; work?: ProgressReporter }): Promise<OperationResult>
  create(request: CreateMachine): Promise<CreatedMachine>
  /** Gives the clone's id. */
  clone(reference: string, name: string, how: { linked: boolean; work?: ProgressReporter }): Promise<string>
  /**
   * Lends the files of a stopped machine to `use` while nothing else may happen to it, and gives what that gives; files that
   * must be copied go to `staging`, an empty private folder. A running or suspended machine: `conflict` that says to stop it,
   * but with `suspend` a running one is suspended meanwhile, and of a suspended one the disks are lent as they are.
   */
  export<T>(
    reference: string,
    how: { staging: string; suspend?: boolean; work?: ProgressReporter },
    use: (machine: LentMachine, signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  /**
   * Reserves the name (throws `conflict`), fills and adopts, and takes it into the inventory; what the same work has made
   * before is given as it is. Aborted by work.signal, which `fill` must heed: nothing stays.
   */
  import(
    request: { readonly name: string; readonly work?: ProgressReporter },
    fill: (folder: string) => Promise<void>,
  ): Promise<AdoptedMachine>
  set(reference: string, request: SetMachine, how: { dryRun: boolean; work?: ProgressReporter }): Promise<SetResult>
  remove(reference: string, how: { force: boolean; work?: ProgressReporter }): Promise<void>
  /** Makes the demo machine of a fresh installation. */
  createDemo(): Promise<void>
  /** Ends running operations in a stable state and takes no new ones. Throws `timeout` at the deadline, naming what is left. */
  drain(deadline?: AbortSignal): Promise<void>
  /** Lets go of the driver, after draining. What cannot live without the service is saved until the deadline. */
  close(deadline?: AbortSignal): Promise<void>
}

interface Options {
  readonly driver: HypervisorDriver
  readonly host: Host
  /** Milliseconds that a guest has to stop when asked. */
  readonly stopLimit: number
  readonly store: Store
  readonly publish: Publish
  /** Is told when an event could not be kept. */
  readonly onPublishFailed: (error: unknown) => void
  /** Is told of a machine that a killed process had suspended for a while and that cannot be resumed. */
  readonly unresumed: (error: unknown) => void
}

/** Opens the driver and offers its machines by the rules of the guard table. */
export const openMachines = async ({
  driver,
  host,
  stopLimit,
  store,
  publish,
  onPublishFailed,
  unresumed,
}: Options): Promise<Machines> => {
  const operations = createOperations(id => inventory.touch(id))
  const shownAs = (view: MachineView): Shown => ({ view, state: operations.shown(view.id) ?? view.state })
  const publisher = createPublisher({
    store,
    publish,
    recordOf: ({ view }) => machineRecord(view, operations.shown(view.id), host, driver.platform),
    failed: onPublishFailed,
  })
  let opened = false
  const inventory = createInventory({
    driver,
    host,
    shown: operations.shown,
    changed(id, view) {
      if (opened) publisher.look(id, view && shownAs(view))
    },
  })
  const names = createNames(inventory.all)
  const suspensions = createSuspensions({ store, driver, inventory, failed: unresumed })
  const context = createContext({ driver, inventory, operations, names, suspensions, host })
  await inventory.open()
  await publisher.open(inventory.all().map(shownAs))
  opened = true
  const recovery = await suspensions.recover(id => runVerb(context, id, 'resume'))

  let draining: Promise<void> | undefined
  const drain = (deadline?: AbortSignal): Promise<void> => {
    suspensions.close()
    draining ??= operations.close(deadline)
    return draining
  }

  /** Whoever is answered finds the events of what they did in the log. */
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      await publisher.settled()
    }
  }

  return {
    list: inventory.list,
    counts() {
      const states = inventory.all().map(view => shownAs(view).state)
      return Object.fromEntries([...Map.groupBy(states, state => state)].map(([state, all]) => [state, all.length]))
    },
    show(reference) {
      const view = inventory.find(reference)
      return machineRecord(view, operations.shown(view.id), host, driver.platform, Date.now())
    },
    status(reference) {
      const view = inventory.find(reference)
      const { id, state, addresses } = view
      const problem = problemOf(view, driver.platform)
      return {
        id,
        status: operations.shown(id) ?? state,
        ip_configured: addresses[0]?.ip ?? '-',
        ...(problem !== undefined && { problem }),
      }
    },
    at: home => inventory.all().find(view => view.home === home)?.id,
    checkName: (name, id) => names.reserve(name, id)[Symbol.dispose](),
    run: (reference, verb, how) => told(runVerb(context, reference, verb, { ...how, stopLimit })),
    create: request => told(createMachine(context, request)),
    clone: (reference, name, how) => told(cloneMachine(context, reference, name, how)),
    async export(reference, how, use) {
      // What a kill cut off comes again, and finds the machine as it was then.
      await abortable(recovery.of(inventory.find(reference).id), how.work?.signal)
      return told(exportMachine(context, reference, how, use))
    },
    import: (request, fill) => told(adoptMachine(context, request, fill)),
    set: (reference, request, how) => told(setMachine(context, reference, request, how)),
    remove: (reference, how) => told(removeMachine(context, reference, how)),
    async createDemo() {
      inventory.accept(await driver.createDemo())
    },
    drain,
    async close(deadline) {
      // What did not end was told by who drained; the machines are let go of all the same.
      await drain(deadline).then(
        () => abortable(recovery.over, deadline),
        () => {},
      )
      await driver.close(deadline)
      await publisher.settled()
    },
  }
}
