import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { machines } from '../state/machines.ts'
import { may } from '../state/session.ts'
import { useListIf } from '../state/use-list-if.ts'
import { connectionField } from './connection-field.ts'

/** A button that packs a machine of this host and registers it in the catalog of another service. */
export const PushToManager = ({ id }: { readonly id: string }): JSX.Element => (
  <Action
    label="Push a machine"
    operation="catalogManagers.catalogPushAsync"
    explanation="The service packs the machine, uploads it to the storage and registers it in this catalog, as a job."
    fields={[
      {
        name: 'machine',
        label: 'Machine',
        isRequired: true,
        suggestions: useListIf(may('machines.list'), machines).map(({ Name }) => Name),
      },
      { name: 'catalogId', label: 'Catalog id', isRequired: true },
      { name: 'version', label: 'Version', value: '1.0', isRequired: true },
      { ...connectionField, value: '' },
    ]}
    toCall={({ machine, catalogId, version, connection }) => ({
      params: { id },
      body: { uuid: machine, catalog_id: catalogId, version, connection },
    })}
  />
)
