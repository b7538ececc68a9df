import type { Host, RegisteredHost } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Secret } from '../parts/secret.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { hosts } from '../state/hosts.ts'
import { linkTo } from '../state/route.ts'
import { parsePairs } from '../parts/pairs.ts'

const columns: readonly Column<Host>[] = [
  { title: 'Name', cell: ({ id, name }) => <a href={linkTo('hosts', id)}>{name}</a> },
  { title: 'State', cell: ({ state, drained }) => <StateBadge state={drained ? 'drained' : state} /> },
  { title: 'Driver', kind: 'wide', cell: ({ driver }) => driver },
  { title: 'Machines', kind: 'number', cell: ({ machines }) => machines },
  { title: 'CPUs', kind: 'wide number', cell: ({ capacity }) => capacity?.cpus },
  { title: 'Free memory', kind: 'wide number', cell: ({ capacity }) => capacity && `${capacity.free_memory} MB` },
  { title: 'Last heartbeat', kind: 'wide', cell: ({ heard_at: time }) => time && formatTime(time) },
]

/** The hosts of a control. */
export const HostsPage = (): JSX.Element => (
  <ListPage
    title="Hosts"
    collection={hosts}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, url, state, labels }) => `${name} ${url} ${state} ${JSON.stringify(labels)}`}
    empty="There are no other hosts. A host that is registered here is used through this service, with all its machines."
  >
    <Action
      label="Register a host"
      kind="primary"
      operation="hosts.create"
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'url', label: 'Address', kind: 'url', isRequired: true },
        { name: 'labels', label: 'Labels', help: 'name=value, with commas between them' },
      ]}
      toCall={({ name, url, labels }) => ({ body: { name, url, ...(labels && { labels: parsePairs(labels) }) } })}
      // The reply of the service, by its contract.
      onDone={reply => <Secret name="Key with which the host signs in" value={(reply as RegisteredHost).key} />}
      keepsNotice
    />
  </ListPage>
)
