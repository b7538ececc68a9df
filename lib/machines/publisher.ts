import * as z from 'zod'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { NewEvent } from '#lib/events/event.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store } from '#lib/storage/store.ts'
import type { ClaimName } from '#lib/access/claims.ts'
import type { MachineRecord } from './record.ts'
import { getTree } from './snapshots/find.ts'
import { listRecords } from './snapshots/records.ts'

/**
 * The last published view of a machine. It is stored, so that a start publishes what changed while the service was down.
 * `rest` contains everything besides the state and the snapshots.
 */
const PublishedView = z.object({
  id: z.uuid(),
  state: z.string(),
  rest: z.string(),
  /** Left out for a machine without snapshots. */
  snapshots: z.string().optional(),
})
type PublishedView = z.infer<typeof PublishedView>

/** A machine with the state that clients see: the transient state while an operation runs. */
export interface VisibleMachine {
  readonly view: MachineView
  readonly state: string
}

/** Publishes each change of a machine once and in order, whatever caused it. Nothing else publishes events of machines. */
export interface Publisher {
  /** Publishes the difference between a machine and its last published view. `machine` is undefined if the machine is gone. */
  publishChanges(id: string, machine: VisibleMachine | undefined): void
  /** Publishes what changed while the service was down. `machines` are all that exist now. */
  open(machines: readonly VisibleMachine[]): Promise<void>
  /** Settles when all events so far are on the disk. */
  flush(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly toRecord: (machine: VisibleMachine) => MachineRecord
  /** Called after the visible state of a machine has changed. */
  readonly onStateChange: (view: MachineView) => void
  /** Called when an event could not be stored. */
  readonly onPublishFailed: (error: unknown) => void
}

const createEvent = (
  message: string,
  body: Readonly<Record<string, unknown>>,
  claim: ClaimName = 'LIST_VM',
): NewEvent => ({
  type: 'pdfm',
  message,
  body,
  audience: { claims: [claim] },
})

const toPublishedView = ({ view, state }: VisibleMachine): PublishedView => {
  const { id, name, definition, addresses, problem, guest, disconnectedCards, forkReady } = view
  // Views of earlier versions have no such members, and must not look as if they had changed.
  const links = disconnectedCards ? [disconnectedCards] : []
  const forks = forkReady ? [{ forkReady }] : []
  const snapshots = listRecords(getTree(view))
  return {
    id,
    state,
    rest: JSON.stringify([name, definition, addresses, problem, guest, ...links, ...forks]),
    ...(snapshots.length > 0 && { snapshots: JSON.stringify(snapshots) }),
  }
}

export const createPublisher = ({ store, publish, toRecord, onStateChange, onPublishFailed }: Options): Publisher => {
  // Stores of earlier versions have this name.
  const records = store.collection('machine-sightings', PublishedView)
  const publishedViews = new Map<string, PublishedView>()
  let lastCommit: Promise<unknown> = Promise.resolve()

  const createEvents = (
    id: string,
    previous: PublishedView | undefined,
    machine: VisibleMachine | undefined,
  ): readonly NewEvent[] => {
    if (!machine) return previous ? [createEvent('VM_REMOVED', { vm_id: id })] : []
    if (!previous) return [createEvent('VM_ADDED', { vm_id: id, new_vm: toRecord(machine) })]
    const { state, rest, snapshots } = toPublishedView(machine)
    const { problem } = machine.view
    if (snapshots !== previous.snapshots)
      return [
        createEvent(
          'VM_SNAPSHOTS_UPDATED',
          { vm_id: id, snapshots: snapshots === undefined ? null : listRecords(getTree(machine.view)) },
          'LIST_SNAPSHOT_VM',
        ),
        ...createEvents(id, { ...previous, snapshots }, machine),
      ]
    if (state !== previous.state)
      return [
        createEvent('VM_STATE_CHANGED', {
          previous_state: previous.state,
          current_state: state,
          vm_id: id,
          ...(problem !== undefined && { problem }),
        }),
      ]
    return rest === previous.rest ? [] : [createEvent('VM_UPDATED', { vm_id: id, new_vm: toRecord(machine) })]
  }
  const publishChanges: Publisher['publishChanges'] = (id, machine) => {
    const previous = publishedViews.get(id)
    const events = createEvents(id, previous, machine)
    const current = machine && toPublishedView(machine)
    if (current) publishedViews.set(id, current)
    else publishedViews.delete(id)
    if (events.length === 0) return
    // The commit enters the queue of the store at once, so that the events have the order of the changes.
    const writes = [...(previous ? [records.remove({ id })] : []), ...(current ? [records.put(current)] : [])]
    // Essential, because a machine may be stopped and deleted on a full disk, and nobody could learn of that later.
    lastCommit = store.commit([...writes, ...events.map(publish)], { essential: true }).catch(onPublishFailed)
    if (machine && machine.state !== previous?.state) onStateChange(machine.view)
  }

  return {
    publishChanges,
    async open(machines) {
      for (const { rev: _, ...published } of await records.list()) publishedViews.set(published.id, published)
      const existingIds = new Set(machines.map(({ view }) => view.id))
      for (const id of publishedViews.keys()) if (!existingIds.has(id)) publishChanges(id, undefined)
      for (const machine of machines) publishChanges(machine.view.id, machine)
      await lastCommit
    },
    async flush() {
      await lastCommit
    },
  }
}
