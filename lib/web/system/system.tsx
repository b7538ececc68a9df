import type { EventClient, SystemHealth } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Problem } from '../parts/problem.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { may } from '../state/session.ts'
import { useReading } from '../state/use-reading.ts'
import { client } from '../state/service.ts'
import { RunOverSsh } from './run-over-ssh.tsx'

const parts: readonly Column<SystemHealth['services'][number]>[] = [
  { title: 'Part', cell: ({ name }) => name },
  {
    title: 'State',
    cell: ({ healthy }) => (
      <span class={`state ${healthy ? 'good' : 'bad'}`}>{healthy ? 'healthy' : 'not healthy'}</span>
    ),
  },
  { title: 'Message', cell: ({ message }) => message },
]

const clients: readonly Column<EventClient>[] = [
  { title: 'User', cell: ({ username }) => username },
  { title: 'Address', cell: ({ address }) => address },
  { title: 'Since', kind: 'wide', cell: ({ connected_at: time }) => formatTime(time) },
  { title: 'Types', kind: 'wide', cell: ({ event_subscriptions: types }) => types.join(', ') },
]

/** How the service is, and what concerns it as a whole. */
export const SystemPage = (): JSX.Element => {
  const health = useReading(() => client.api.health.system())
  const license = useReading(() => client.api.license.show())
  const subscribers = useReading(may('events.clients') ? () => client.api.events.clients() : undefined)
  const stats = useReading(may('events.stats') ? () => client.api.events.stats() : undefined)
  return (
    <section class="page">
      <header>
        <h1>System</h1>
        <div class="actions">
          <RunOverSsh />
          <Action
            label="Rotate the signing key"
            operation="auth.rotateKey"
            explanation="New tokens are signed with a new key. Tokens that are out stay valid until they end."
            toCall={() => ({})}
            onDone={() => 'A new key signs tokens from now on.'}
          />
        </div>
      </header>
      <Problem text={health.problem ?? health.value?.error_message} />
      {health.value && (
        <Table label="Parts of the service" columns={parts} rows={health.value.services} keyOf={({ name }) => name} />
      )}
      <Problem text={license.problem} />
      <Facts
        facts={[
          ['License', license.value?.edition],
          ['State of the license', license.value?.status],
          ['Subscribers of events', stats.value?.total_clients],
          ['Events sent', stats.value?.messages_sent],
          ['Running since', stats.value && formatTime(stats.value.start_time)],
        ]}
      />
      {subscribers.value && subscribers.value.length > 0 && (
        <>
          <h2>Subscribers over WebSockets</h2>
          <Table label="Subscribers" columns={clients} rows={subscribers.value} keyOf={({ id }) => id} />
        </>
      )}
    </section>
  )
}
