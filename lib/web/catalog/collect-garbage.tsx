import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { connectionField } from './connection-field.ts'

/** A button that removes the chunks of a storage which no manifest needs. */
export const CollectGarbage = (): JSX.Element => (
  <Action
    label="Clean a storage"
    operation="catalog.garbage"
    explanation="Chunks that no manifest needs any more are removed. Without a tick they are only counted."
    fields={[connectionField, { name: 'remove', label: 'Remove them', kind: 'checkbox' }]}
    toCall={({ connection, remove }) => ({ body: { connection, dry_run: remove === '' }, async: true })}
  />
)
