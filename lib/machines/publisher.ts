import * as z from 'zod'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { NewEvent } from '#lib/events/event.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store } from '#lib/storage/store.ts'
import type { MachineRecord } from './record.ts'

/** What was last told of a machine: kept, so that what happens while the service is down is told when it is back. */
const Sighting = z.object({ id: z.uuid(), state: z.string(), rest: z.string() })
type Sighting = z.infer<typeof Sighting>

/** A machine as it is shown now. */
export interface Shown {
  readonly view: MachineView
  readonly state: string
}

/** Tells of every change of a machine, however it was caused, once and in order. The only one who does. */
export interface Publisher {
  /** Compares a machine with what was last told of it. `now` is undefined when it is gone. */
  look(id: string, now: Shown | undefined): void
  /** Tells of what happened while nobody looked. `all`: every machine that there is. */
  open(all: readonly Shown[]): Promise<void>
  /** Settles when all that was told is on disk. */
  settled(): Promise<void>
}

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly recordOf: (shown: Shown) => MachineRecord
  readonly failed: (error: unknown) => void
}

const machineEvent = (message: string, body: Readonly<Record<string, unknown>>): NewEvent => ({
  type: 'pdfm',
  message,
  body,
  audience: { claims: ['LIST_VM'] },
})

const sightingOf = ({ view, state }: Shown): Sighting => {
  const { id, name, definition, addresses, problem } = view
  return { id, state, rest: JSON.stringify([name, definition, addresses, problem]) }
}

export const createPublisher = ({ store, publish, recordOf, failed }: Options): Publisher => {
  const sightings = store.collection('machine-sightings', Sighting)
  const told = new Map<string, Sighting>()
  let last: Promise<unknown> = Promise.resolve()

  const changes = (before: Sighting | undefined, now: Shown | undefined, id: string): readonly NewEvent[] => {
    if (!now) return before ? [machineEvent('VM_REMOVED', { vm_id: id })] : []
    if (!before) return [machineEvent('VM_ADDED', { vm_id: id, new_vm: recordOf(now) })]
    const { state, rest } = sightingOf(now)
    if (state !== before.state)
      return [
        machineEvent('VM_STATE_CHANGED', {
          previous_state: before.state,
          current_state: state,
          vm_id: id,
          ...(now.view.problem !== undefined && { problem: now.view.problem }),
        }),
      ]
    return rest === before.rest ? [] : [machineEvent('VM_UPDATED', { vm_id: id, new_vm: recordOf(now) })]
  }
  const look: Publisher['look'] = (id, now) => {
    const before = told.get(id)
    const events = changes(before, now, id)
    const after = now && sightingOf(now)
    if (after) told.set(id, after)
    else told.delete(id)
    if (events.length === 0) return
    // Added to the store's queue at once, so that events stand in the order of what they tell of.
    const writes = [...(before ? [sightings.remove({ id })] : []), ...(after ? [sightings.put(after)] : [])]
    // A machine may be stopped and deleted on a full disk, and nobody could be told of that later.
    last = store.commit([...writes, ...events.map(publish)], { essential: true }).catch(failed)
  }

  return {
    look,
    async open(all) {
      for (const { rev: _, ...sighting } of await sightings.list()) told.set(sighting.id, sighting)
      const there = new Set(all.map(({ view }) => view.id))
      for (const id of told.keys()) if (!there.has(id)) look(id, undefined)
      for (const shown of all) look(shown.view.id, shown)
      await last
    },
    async settled() {
      await last
    },
  }
}
