import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { HostMachines } from './host-machines.tsx'
import { Missing } from '../parts/missing.tsx'
import { formatPairs, parsePairs } from '../parts/pairs.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import { formatTime } from '../parts/text.ts'
import type { PageProps } from '../pages/pages.ts'
import { hosts } from '../state/hosts.ts'
import { goTo } from '../state/route.ts'
import { may } from '../state/session.ts'
import { useStore } from '../state/store.ts'

/** One host of a control. */
export const HostPage = ({ parts: [reference = ''] }: PageProps): JSX.Element => {
  const list = useStore(hosts)
  const host = list.rows.find(({ id, name }) => id === reference || name === reference)
  if (!host) return <Missing what="host" list={list} />
  const { id, name, capacity } = host
  const toCall = () => ({ params: { id } })
  return (
    <section class="page">
      <header>
        <h1>{name}</h1>
        <StateBadge state={host.state} />
        <div class="actions">
          {host.drained ? (
            <Action
              label="Give it machines again"
              operation="hosts.undrain"
              toCall={toCall}
              onDone={() => `${name} gets new machines again.`}
            />
          ) : (
            <Action
              label="Drain"
              operation="hosts.drain"
              explanation="The host gets no new machines. Those that it has stay."
              toCall={toCall}
              onDone={() => `${name} gets no new machines.`}
            />
          )}
          <Action
            label="Change"
            operation="hosts.update"
            fields={[
              { name: 'url', label: 'Address', kind: 'url', value: host.url, isRequired: true },
              { name: 'labels', label: 'Labels', value: formatPairs(host.labels), help: 'name=value,name=value' },
            ]}
            toCall={({ url, labels = '' }) => ({ params: { id }, body: { url, labels: parsePairs(labels) } })}
          />
          <Action
            label="Remove"
            kind="danger"
            operation="hosts.delete"
            explanation={`${name} is removed from this service. Its machines stay on it.`}
            toCall={toCall}
            onDone={() => (goTo('hosts'), `${name} was removed.`)}
          />
        </div>
      </header>
      <Facts
        facts={[
          ['Address', host.url],
          ['Driver', host.driver],
          ['Architecture', host.architecture],
          ['Version', host.version],
          ['Machines', host.machines],
          ['CPUs', capacity?.cpus],
          ['Memory', capacity && `${capacity.free_memory} of ${capacity.memory} MB free`],
          ['Labels', formatPairs(host.labels)],
          ['Drained', host.drained && 'it gets no new machines'],
          ['Last heartbeat', host.heard_at && formatTime(host.heard_at)],
          ['Unreachable since', host.unreachable_since && formatTime(host.unreachable_since)],
          ['Id', <code>{id}</code>],
        ]}
      />
      {may('machines.list') && <HostMachines name={name} />}
    </section>
  )
}
