import type { Principal } from '#lib/access/principal.ts'
import type { MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { PreparedBody } from '#lib/calls/prepared-body.ts'
import { importMachine, type ImportedMachine } from './import.ts'
import { createForkCalls, type ForkCalls } from './forks/calls.ts'
import { cloneMachine, type CloneOptions } from './clone.ts'
import { createContext } from './context.ts'
import { createDeletions } from './automation/deletions.ts'
import { createStarts } from './automation/starts.ts'
import { createMachine, type Owner } from './create.ts'
import { createUntil } from './create-until.ts'
import { deleteSeed } from './delete-seed.ts'
import { listImageUsers } from './images/list-image-users.ts'
import { type ExportHandle, exportMachine, type ExportOptions } from './export.ts'
import { addForward, listForwards, removeForward } from './forwards/forwards.ts'
import type { ForwardRecord, NewForward } from './forwards/schemas.ts'
import { createInventory } from './inventory.ts'
import { createNameReservations } from './name-reservations.ts'
import { describeProblem } from './network.ts'
import { createOperations } from './operations.ts'
import { createPublisher } from './publisher.ts'
import { toMachineRecord, type MachineRecord } from './record.ts'
import { abortable } from '#lib/async/abortable.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { removeMachine } from './remove.ts'
import { createGuestCalls, type GuestCalls } from './guest/guest-calls.ts'
import { runVerb } from './run.ts'
import type { CreatedMachine, CreateMachine, MachineStatus, OperationResult, SetMachine, SetResult } from './schemas.ts'
import type { SelectionQuery } from '#lib/calls/selection/selection-query.ts'
import { setMachine } from './set.ts'
import { type ConsoleCalls, createConsoleCalls } from './console/calls.ts'
import { createFeeds } from './console/feeds.ts'
import { createScreenCalls, type ScreenCalls } from './screen/calls.ts'
import { createSnapshotCalls, type SnapshotCalls } from './snapshots/calls.ts'
import { defaultQuota } from './snapshots/quota.ts'
import { createMembers, type Members } from './members/members.ts'
import { createPatternSearch } from './wait/pattern-search.ts'
import type { OpenOptions } from './open-options.ts'
import { createWaitCalls, type WaitCalls } from './wait/calls.ts'
import type { WaitContext } from './wait/context.ts'
import { createWatchers } from './wait/watchers.ts'
import { createSuspensions } from './suspensions.ts'
import { createUsageMeter, type MeasuredMachine } from './usage.ts'
import { connectToGuest } from './tunnels/connect.ts'
import type { GuestConnection } from './tunnels/tunnels.ts'

/** Options of a call that may take long: its progress, its cancellation, and how long it waits for a busy machine. */
interface LongCall {
  readonly progress?: ProgressReporter
}

/** Who a new machine belongs to; nobody when left out. */
interface Owned {
  readonly owner?: Owner
}

/** The machines of this host. A `reference` is a UUID or a name, in any case. */
export interface Machines extends GuestCalls, ForkCalls, ConsoleCalls, ScreenCalls, SnapshotCalls, WaitCalls {
  /** Returns the records of all machines, ordered by name, as an encoded JSON array. */
  list(): PreparedBody
  /** Returns the records that a query selects (see `Inventory.encodeSelection`). */
  select(query: SelectionQuery, path: `/${string}`): PreparedBody
  /** Returns the number of machines per state. */
  countByState(): Readonly<Record<string, number>>
  /** Measures what the running machines have used of the host (see `createUsageMeter`). */
  measure(): Promise<readonly MeasuredMachine[]>
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
  /** The names of the machines with a disk or a CD-ROM of the registered image with this digest. */
  listImageUsers(digest: string): readonly string[]
  /** True if there is a machine whose definition cannot be read. */
  hasUnreadable(): boolean
  /** Creates a machine (see `createMachine`), and with `until` starts it and waits (see `createUntil`). */
  create(
    request: CreateMachine,
    options?: LongCall & Owned & { readonly until?: string | undefined },
  ): Promise<CreatedMachine>
  /** Clones a machine and returns the id of the clone (see `cloneMachine`). */
  clone(reference: string, name: string, options: CloneOptions): Promise<string>
  /**
   * Opens the files of a machine (see `exportMachine`). First waits until a machine that a killed process left suspended is
   * resumed.
   */
  export(reference: string, options: ExportOptions): Promise<ExportHandle>
  /** Creates a machine from the files that `populate` writes into a folder (see `importMachine`). */
  import(
    request: LongCall & Owned & { readonly name: string },
    populate: (folder: string) => Promise<void>,
  ): Promise<ImportedMachine>
  /** Changes the definition of a machine (see `setMachine`). */
  set(reference: string, request: SetMachine, options: LongCall & { readonly dryRun: boolean }): Promise<SetResult>
  /** Returns the forwards of a machine. Throws `not-found`. */
  listForwards(reference: string): readonly ForwardRecord[]
  /** Opens a port of the host that leads to the guest (see `addForward`). */
  addForward(reference: string, forward: NewForward, options: LongCall): Promise<ForwardRecord>
  /** Closes the port of a forward (see `removeForward`). */
  removeForward(reference: string, forwardId: string, options: LongCall): Promise<void>
  /** Connects to a TCP port of a running guest (see `connectToGuest`). */
  connectToGuest(reference: string, caller: Principal, port: number): Promise<GuestConnection>
  /** Deletes what the cloud-init of a machine is told (see `deleteSeed`). */
  deleteSeed(reference: string, options: LongCall): Promise<void>
  /** Deletes a machine (see `removeMachine`). */
  remove(reference: string, options: LongCall & { readonly force: boolean }): Promise<void>
  /** The machines that pools make and give away. */
  readonly members: Members
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

/** Milliseconds between two looks for machines whose time to live is over. */
const deletionInterval = 2_000

/** Opens the driver and its machines, and publishes what changed while the service was down. */
export const openMachines = async ({
  driver,
  host,
  forwardAddresses = [],
  leaseImage,
  stopTimeout,
  snapshotQuota = defaultQuota,
  store,
  events,
  onPublishFailed,
  onResumeFailed,
  every,
  onAutomationFailed,
}: OpenOptions): Promise<Machines> => {
  const operations = createOperations(id => inventory.invalidate(id))
  const { getTransientState } = operations
  const toVisible = (view: MachineView) => ({ view, state: getTransientState(view.id) ?? view.state })
  const toRecord = (view: MachineView, now?: number): MachineRecord =>
    toMachineRecord(view, getTransientState(view.id), host, driver.platform, now)
  const starts = createStarts({
    listViews: () => inventory.listViews(),
    start: id => runVerb(context, id, 'start'),
    onFailed: ({ name }, error) => onAutomationFailed('start', name, error),
  })
  const deletions = createDeletions({
    listViews: () => inventory.listViews(),
    remove: id => removeMachine(context, id, { force: true }),
    onFailed: ({ name }, error) => onAutomationFailed('deletion', name, error),
  })
  const publisher = createPublisher({
    store,
    publish: events.publish,
    toRecord: ({ view }) => toRecord(view),
    onStateChange: deletions.onStateChange,
    onPublishFailed,
  })
  const watchers = createWatchers()
  let isOpen = false
  const inventory = createInventory({
    driver,
    host,
    getTransientState,
    onChange(id, view) {
      if (isOpen) publisher.publishChanges(id, view && toVisible(view))
      watchers.notify()
    },
    onCrash(view) {
      if (isOpen) starts.onCrash(view)
    },
  })
  const names = createNameReservations(inventory.listViews)
  const suspensions = createSuspensions({ store, driver, inventory, onResumeFailed })
  const context = createContext({
    driver,
    inventory,
    operations,
    names,
    suspensions,
    host,
    forwardAddresses,
    leaseImage,
  })
  await inventory.open()
  await publisher.open(inventory.listViews().map(toVisible))
  isOpen = true
  const deleting = every(deletionInterval, deletions.deleteDue)
  const recovery = await suspensions.recover(id => runVerb(context, id, 'resume'))
  deletions.deleteIdle()
  void starts.startAll()

  const waiting: WaitContext = {
    driver,
    watchers,
    events,
    feeds: createFeeds(),
    patternSearch: createPatternSearch(),
    findView: inventory.get,
    findTransientState: getTransientState,
    flushEvents: publisher.flush,
  }
  const closing = new AbortController()
  let draining: Promise<void> | undefined
  const drain = (deadline?: AbortSignal): Promise<void> => {
    closing.abort(new ServiceError('unavailable', 'The service is shutting down; try again when it is back.'))
    suspensions.close()
    starts[Symbol.dispose]()
    deleting[Symbol.dispose]()
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
    select: inventory.encodeSelection,
    countByState() {
      const states = inventory.listViews().map(view => toVisible(view).state)
      return Object.fromEntries([...Map.groupBy(states, state => state)].map(([state, same]) => [state, same.length]))
    },
    measure: createUsageMeter(driver, inventory),
    show: reference => toRecord(inventory.find(reference), Date.now()),
    showStatus(reference) {
      const view = inventory.find(reference)
      const problem = describeProblem(view, driver.platform)
      return {
        id: view.id,
        status: toVisible(view).state,
        ip_configured: view.addresses[0]?.ip ?? '-',
        ...(problem !== undefined && { problem }),
      }
    },
    findByHome: home => inventory.listViews().find(view => view.home === home)?.id,
    listImageUsers: digest => listImageUsers(inventory.listViews(), digest),
    hasUnreadable: () => inventory.listViews().some(({ state }) => state === 'invalid'),
    checkName: (name, id) => names.reserve(name, id)[Symbol.dispose](),
    run: (reference, verb, options) => afterEvents(runVerb(context, reference, verb, { ...options, stopTimeout })),
    create: (request, { until, owner, progress } = {}) =>
      afterEvents(
        until === undefined
          ? createMachine(context, request, owner)
          : createUntil(context, request, { until, owner, waiting, progress }),
      ),
    clone: (reference, name, options) => afterEvents(cloneMachine(context, reference, name, options)),
    async export(reference, options) {
      // A job that a kill interrupted is resumed, and must find the machine in the state that it had then.
      await abortable(recovery.waitFor(inventory.find(reference).id), options.progress?.signal)
      const exported = await afterEvents(exportMachine(context, reference, options))
      return { ...exported, [Symbol.asyncDispose]: () => afterEvents(exported[Symbol.asyncDispose]()) }
    },
    import: (request, populate) => afterEvents(importMachine(context, request, populate)),
    set: (reference, request, options) =>
      afterEvents(setMachine(context, reference, request, { ...options, stopTimeout })),
    listForwards: reference => listForwards(context, reference),
    addForward: (reference, forward, { progress }) => afterEvents(addForward(context, reference, forward, progress)),
    removeForward: (reference, forwardId, { progress }) =>
      afterEvents(removeForward(context, reference, forwardId, progress)),
    connectToGuest: (reference, caller, port) => connectToGuest(context, reference, caller, port),
    deleteSeed: (reference, options) => deleteSeed(context, reference, options),
    remove: (reference, options) => afterEvents(removeMachine(context, reference, options)),
    members: createMembers({ context, waiting, afterEvents }),
    ...createForkCalls({ context, afterEvents }),
    ...createGuestCalls({ driver, inventory }),
    ...createConsoleCalls({ driver, inventory, feeds: waiting.feeds }),
    ...createScreenCalls({ driver, inventory }),
    ...createSnapshotCalls({ context, quota: snapshotQuota, afterEvents }),
    ...createWaitCalls({ driver, inventory, waiting, closing: closing.signal }),
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
