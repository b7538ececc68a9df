import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { architectureField, connectionField } from './connection-field.ts'

/** A button that registers a pack which a storage has already. */
export const ImportManifest = (): JSX.Element => (
  <Action
    label="Import"
    operation="catalog.import"
    explanation="The service reads the description of a pack that is on the storage already, and registers it."
    fields={[
      { name: 'id', label: 'Catalog id', isRequired: true },
      { name: 'version', label: 'Version', isRequired: true },
      architectureField,
      connectionField,
    ]}
    toCall={({ id, version, architecture, connection }) => ({
      body: { catalog_id: id, version, architecture, connection },
      async: true,
    })}
  />
)
