import type { ForkedMachines } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { splitWords } from '../parts/form-text.ts'
import { linkTo } from '../state/route.ts'

interface Props {
  /** The id of the machine. */
  readonly id: string
  /** The snapshot from which the forks go on; the present moment of the machine when left out. */
  readonly snapshot?: { readonly id: string; readonly name: string }
}

/** Makes running copies of a machine. */
export const Fork = ({ id, snapshot }: Props): JSX.Element => (
  <Action
    label="Fork"
    operation="machines.fork"
    explanation={
      snapshot
        ? `The copies go on from ${snapshot.name}, with its memory and its disks. The machine does not change.`
        : 'The copies go on from the present moment of the machine. They share its memory and disks until they change them.'
    }
    fields={[
      { name: 'count', label: 'Copies', kind: 'number', value: '1', min: 1, isRequired: true },
      { name: 'names', label: 'Names', help: 'One for each copy, with spaces between them.' },
      { name: 'ephemeral', label: 'Delete a copy when it has stopped', kind: 'checkbox' },
    ]}
    toCall={({ count, names = '', ephemeral }) => ({
      params: { id },
      body: {
        ...(snapshot && { snapshot: snapshot.id }),
        ...(names.trim() ? { names: splitWords(names) } : { count: Number(count) }),
        ...(ephemeral && { ephemeral: true }),
      },
    })}
    onDone={reply =>
      // The reply of the service, by its contract.
      (reply as ForkedMachines).forks.map(({ id: fork, name }) => (
        <p key={fork}>
          <a href={linkTo('machines', fork)}>{name}</a> runs.
        </p>
      ))
    }
  />
)
