import type { SnapshotNode } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Fork } from '../machine/fork.tsx'
import { Action } from '../parts/action.tsx'
import { formatBytes } from '../parts/byte-size.ts'
import { Problem } from '../parts/problem.tsx'
import { formatTime } from '../parts/text.ts'
import { useSnapshots } from './use-snapshots.ts'

interface TreeProps {
  readonly machine: string
  /** Whether the machine belongs to the user. */
  readonly isOwn: boolean
  readonly nodes: readonly SnapshotNode[]
}

/** Snapshots with those that were made on top of them. */
const Tree = ({ machine, isOwn, nodes }: TreeProps): JSX.Element => (
  <ul class="snapshots">
    {nodes.map(({ id, name, description, created_at: time, size, current, state, children = [] }) => (
      <li key={id}>
        <div>
          <strong>{name}</strong>
          {current && <span class="label">the machine is on it</span>}
          <span class="hint">
            {formatTime(time)} · {state === 'poweroff' ? 'without memory' : 'with memory'} · {formatBytes(size)}
            {description && ` · ${description}`}
          </span>
          <span class="actions">
            <Action
              label="Revert"
              operation="machines.revertToSnapshot"
              isOwn={isOwn}
              explanation={`What the machine has written since ${name} is lost, unless another snapshot has it.`}
              toCall={() => ({ params: { id: machine, snapshot: id } })}
              onDone={() => `The machine is as it was at ${name}.`}
            />
            <Fork id={machine} snapshot={{ id, name }} />
            <Action
              label="Change"
              operation="machines.updateSnapshot"
              isOwn={isOwn}
              fields={[
                { name: 'name', label: 'Name', value: name, isRequired: true },
                { name: 'description', label: 'Description', value: description },
              ]}
              toCall={values => ({
                params: { id: machine, snapshot: id },
                body: { snapshot_name: values['name'], snapshot_description: values['description'] },
              })}
            />
            <Action
              label="Delete"
              kind="danger"
              operation="machines.deleteSnapshot"
              isOwn={isOwn}
              explanation={`The snapshot ${name} is deleted. The machine keeps its present state.`}
              fields={
                children.length > 0
                  ? [{ name: 'all', label: 'Delete the snapshots on top of it too', kind: 'checkbox' }]
                  : []
              }
              toCall={({ all }) => ({
                params: { id: machine, snapshot: id },
                ...(all && { body: { delete_children: true } }),
              })}
              onDone={() => `The snapshot ${name} was deleted.`}
            />
          </span>
        </div>
        {children.length > 0 && <Tree machine={machine} isOwn={isOwn} nodes={children} />}
      </li>
    ))}
  </ul>
)

/** The snapshots of a machine as trees, and how to make one. */
export const SnapshotsPanel = ({ id, isOwn }: { readonly id: string; readonly isOwn: boolean }): JSX.Element => {
  const { roots, problem } = useSnapshots(id)
  return (
    <section aria-label="Snapshots">
      <header>
        <h2>Snapshots</h2>
        <div class="actions">
          <Action
            label="Make a snapshot"
            operation="machines.createSnapshot"
            isOwn={isOwn}
            fields={[
              { name: 'name', label: 'Name', help: 'Snapshot 1, 2, … if left out.' },
              { name: 'description', label: 'Description' },
              { name: 'memory', label: 'With the memory of a running machine', kind: 'checkbox', value: 'true' },
            ]}
            toCall={({ name, description, memory }) => ({
              params: { id },
              body: {
                ...(name && { snapshot_name: name }),
                ...(description && { snapshot_description: description }),
                ...(memory === '' && { memory: false }),
              },
            })}
            onDone={() => 'The snapshot was made.'}
          />
          {roots && roots.length > 0 && (
            <Action
              label="Delete all"
              kind="danger"
              operation="machines.deleteSnapshots"
              isOwn={isOwn}
              explanation="All snapshots of the machine are deleted. The machine keeps its present state."
              toCall={() => ({ params: { id } })}
            />
          )}
        </div>
      </header>
      <Problem text={problem} />
      {roots?.length === 0 && !problem && <p class="hint">There are no snapshots.</p>}
      {roots && <Tree machine={id} isOwn={isOwn} nodes={roots} />}
    </section>
  )
}
