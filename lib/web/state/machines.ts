import type { Machine } from '#lib/client/api.gen.ts'
import { createCollection } from './collection.ts'
import type { LiveEvent } from './live.ts'
import { client } from './service.ts'

/** What the pages need of a machine. */
const fields = [
  'ID',
  'Name',
  'State',
  'Description',
  'OS',
  'Type',
  'Hardware',
  'internal_ip_address',
  'host',
  'problem',
  'owner',
  'labels',
  'expires_at',
  'ephemeral',
  'autostart',
  'restart',
] as const

export type MachineRow = Pick<Machine, (typeof fields)[number]>

const byName = (one: MachineRow, other: MachineRow): number => one.Name.localeCompare(other.Name)

/** The rows after an event, which tells the whole machine or its state. Exported for tests. */
export const foldMachines = (
  rows: readonly MachineRow[],
  { event_type: type, message, body = {} }: LiveEvent,
): readonly MachineRow[] | 'reload' => {
  // Events of machines on other hosts come through the host's own.
  if (type === 'orchestrator') return 'reload'
  const { vm_id: id, new_vm: machine, current_state: state, problem } = body
  if (type !== 'pdfm' || id === undefined) return rows
  const others = rows.filter(({ ID }) => ID !== id)
  if (message === 'VM_REMOVED') return others
  // The events have the shape of the records.
  if (machine) return [...others, machine as MachineRow].toSorted(byName)
  const known = rows.find(({ ID }) => ID === id)
  if (!known || message !== 'VM_STATE_CHANGED') return 'reload'
  const { problem: _, ...rest } = known
  const changed = {
    ...rest,
    State: state as MachineRow['State'],
    ...(problem !== undefined && { problem: problem as string }),
  }
  return rows.map(row => (row === known ? changed : row))
}

/** The machines of this service. */
export const machines = createCollection<MachineRow>({
  load: async () => (await client.api.machines.list({ query: { fields: fields.join(',') } })).toSorted(byName),
  onEvent: foldMachines,
})
