import type { JSX } from 'preact'
import { StateBadge } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { machines, type MachineRow } from '../state/machines.ts'
import { linkTo } from '../state/route.ts'
import { useStore } from '../state/store.ts'

const columns: readonly Column<MachineRow>[] = [
  { title: 'Name', cell: ({ ID, Name }) => <a href={linkTo('machines', ID)}>{Name}</a> },
  { title: 'State', cell: ({ State }) => <StateBadge state={State} /> },
  { title: 'Address', kind: 'wide', cell: ({ internal_ip_address: address }) => address },
  { title: 'Description', kind: 'wide', cell: ({ Description }) => Description },
]

/** The machines that are on a host. */
export const HostMachines = ({ name }: { readonly name: string }): JSX.Element => {
  const list = useStore(machines)
  const rows = list.rows.filter(({ host }) => host === name)
  return (
    <section>
      <h2>Its machines</h2>
      {list.isLoaded && rows.length === 0 && <p class="hint">It has no machines that you may see.</p>}
      {rows.length > 0 && <Table label={`Machines of ${name}`} columns={columns} rows={rows} keyOf={({ ID }) => ID} />}
    </section>
  )
}
