import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { splitWords } from '../parts/form-text.ts'
import type { MachineRow } from '../state/machines.ts'
import { connectionField } from './connection-field.ts'

/** A button that packs a machine and stores it in the catalog. */
export const PushMachine = ({ machine: { ID, Name, State } }: { readonly machine: MachineRow }): JSX.Element => (
  <Action
    label="Push to the catalog"
    operation="catalog.pushAsync"
    explanation="The service packs the machine and uploads it as a job. An interrupted push goes on where it was."
    fields={[
      { name: 'id', label: 'Catalog id', value: Name, isRequired: true },
      { name: 'version', label: 'Version', value: '1.0', isRequired: true },
      connectionField,
      { name: 'tags', label: 'Tags' },
      { name: 'description', label: 'Description' },
      { name: 'chunked', label: 'As chunks, of which only new ones are sent', kind: 'checkbox' },
      ...(State === 'running'
        ? [{ name: 'suspend', label: 'Suspend the machine while it is read', kind: 'checkbox', value: 'true' } as const]
        : []),
    ]}
    toCall={({ id, version, connection, tags = '', description, chunked, suspend }) => ({
      body: {
        catalog_id: id,
        version,
        connection,
        uuid: ID,
        ...(tags.trim() && { tags: splitWords(tags) }),
        ...(description && { description }),
        ...(chunked && { chunked: true }),
        ...(suspend && { suspend: true }),
      },
    })}
  />
)
