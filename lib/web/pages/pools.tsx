import type { Pool } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { pools } from '../state/pools.ts'
import { linkTo } from '../state/route.ts'

const describeSource = ({ from }: Pool): string =>
  from.image === undefined ? `copies of ${from.machine}` : `image ${from.image}`

const countMembers = ({ members }: Pool, state: Pool['members'][number]['state']): number =>
  members.filter(member => member.state === state).length

const columns: readonly Column<Pool>[] = [
  {
    title: 'Name',
    cell: ({ name, problem }) => (
      <>
        <a href={linkTo('pools', name)}>{name}</a>
        {problem && (
          <span class="warning" title={problem}>
            {problem}
          </span>
        )}
      </>
    ),
  },
  { title: 'Of', kind: 'wide', cell: describeSource },
  { title: 'Ready', kind: 'number', cell: pool => `${countMembers(pool, 'ready')} of ${pool.min}` },
  { title: 'Claimed', kind: 'number', cell: pool => countMembers(pool, 'claimed') },
  { title: 'Preparing', kind: 'number', cell: pool => countMembers(pool, 'preparing') },
  { title: 'At most', kind: 'number', cell: ({ max }) => max },
  { title: 'Waiting', kind: 'number', cell: ({ waiting }) => waiting },
]

/** The pools, and how to define one. */
export const PoolsPage = (): JSX.Element => (
  <ListPage
    title="Pools"
    collection={pools}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={pool => `${pool.name} ${describeSource(pool)} ${pool.problem ?? ''}`}
    empty="There are no pools. A pool keeps machines ready, so that a claim gets one that runs."
  >
    <Action
      label="Define a pool"
      kind="primary"
      operation="pools.create"
      explanation="The machines are copies of a machine. For pools of an image, call the service with a template."
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'machine', label: 'Machine to copy', isRequired: true },
        { name: 'min', label: 'Machines that are kept ready', kind: 'number', value: '1', min: 0, isRequired: true },
        {
          name: 'max',
          label: 'At most, with those that are claimed',
          kind: 'number',
          value: '4',
          min: 1,
          isRequired: true,
        },
      ]}
      toCall={({ name, machine, min, max }) => ({
        body: { name, from: { machine }, min: Number(min), max: Number(max) },
      })}
    />
  </ListPage>
)
