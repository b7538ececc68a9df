import type { JSX } from 'preact'
import { ListPage } from '../parts/list-page.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import type { Column } from '../parts/table.tsx'
import { images } from '../state/images.ts'
import { machines, type MachineRow } from '../state/machines.ts'
import { linkTo } from '../state/route.ts'
import { may } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { CreateMachine } from './create-machine.tsx'

const ownColumns: readonly Column<MachineRow>[] = [
  {
    title: 'Name',
    cell: ({ ID, Name, problem }) => (
      <>
        <a href={linkTo('machines', ID)}>{Name}</a>
        {problem && (
          <span class="warning" title={problem}>
            {problem}
          </span>
        )}
      </>
    ),
  },
  { title: 'State', cell: ({ State }) => <StateBadge state={State} /> },
  { title: 'Address', kind: 'wide', cell: ({ internal_ip_address: address }) => address },
  { title: 'CPUs', kind: 'number', cell: ({ Hardware }) => Hardware.cpu.cpus },
  { title: 'Memory', kind: 'number', cell: ({ Hardware }) => Hardware.memory.size.replace('Mb', ' MB') },
  {
    title: 'Labels',
    kind: 'wide',
    cell: ({ labels = {} }) =>
      Object.entries(labels).map(([name, value]) => (
        <span class="label" key={name}>
          {value ? `${name}=${value}` : name}
        </span>
      )),
  },
  { title: 'Description', kind: 'wide', cell: ({ Description }) => Description },
]

const [name, ...others] = ownColumns
const hostColumn: Column<MachineRow> = {
  title: 'Host',
  cell: ({ host }) => host && <a href={linkTo('hosts', host)}>{host}</a>,
}
/** Those of a control, whose machines are on several hosts. */
const controlColumns = [name!, hostColumn, ...others]

const textOf = ({ Name, State, Description, internal_ip_address, labels = {}, problem = '', host }: MachineRow) =>
  `${Name} ${State} ${Description} ${internal_ip_address} ${problem} ${host} ${JSON.stringify(labels)}`

/** A button for a machine of any image. */
const CreateFromImage = (): JSX.Element => <CreateMachine images={useStore(images).rows} />

/** All machines, and how to make one. */
export const MachinesPage = (): JSX.Element => (
  <ListPage
    title="Machines"
    collection={machines}
    columns={may('hosts.list') ? controlColumns : ownColumns}
    keyOf={({ ID }) => ID}
    textOf={textOf}
    empty={
      may('images.list') ? (
        <>
          There are no machines yet. Make one of <a href={linkTo('images')}>an image</a>.
        </>
      ) : (
        'There are no machines yet.'
      )
    }
  >
    {may('images.list') && <CreateFromImage />}
  </ListPage>
)
