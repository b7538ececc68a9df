import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Missing } from '../parts/missing.tsx'
import { Problem } from '../parts/problem.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Table } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { pools } from '../state/pools.ts'
import { goTo, linkTo } from '../state/route.ts'
import { useStore } from '../state/store.ts'
import type { PageProps } from './pages.ts'

/** One pool with its machines. */
export const PoolPage = ({ parts: [reference = ''] }: PageProps): JSX.Element => {
  const list = useStore(pools)
  const pool = list.rows.find(({ name }) => name === reference)
  if (!pool) return <Missing what="pool" list={list} />
  const { name, members } = pool
  return (
    <section class="page list">
      <header>
        <h1>{name}</h1>
        <output class="count">
          {members.length} of at most {pool.max}
        </output>
        <div class="actions">
          <Action
            label="Claim a machine"
            kind="primary"
            operation="pools.claim"
            explanation="The service gives you a machine that is ready, and prepares another one."
            toCall={() => ({ params: { name } })}
          />
          <Action
            label="Delete"
            kind="danger"
            operation="pools.delete"
            explanation="The pool is deleted. Claimed machines stay."
            fields={[{ name: 'keep', label: 'Keep the ready machines too', kind: 'checkbox' }]}
            toCall={({ keep }) => ({ params: { name }, ...(keep && { query: { members: 'keep' } }) })}
            onDone={() => (goTo('pools'), `${name} was deleted.`)}
          />
        </div>
      </header>
      <Problem text={pool.problem} />
      <Table
        label={`Machines of ${name}`}
        rows={members}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Machine', cell: member => <a href={linkTo('machines', member.id)}>{member.name}</a> },
          { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
          { title: 'Claimed by', cell: ({ claimed_by: user }) => user },
          { title: 'Since', kind: 'wide', cell: ({ since }) => formatTime(since) },
        ]}
      />
    </section>
  )
}
