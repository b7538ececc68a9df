import type { CatalogManager } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { joinNames } from '../parts/text.ts'
import { managers } from '../state/managers.ts'
import { linkTo } from '../state/route.ts'
import { readManager, managerFields } from './manager-fields.ts'

const columns: readonly Column<CatalogManager>[] = [
  { title: 'Name', cell: ({ id, name }) => <a href={linkTo('managers', id)}>{name}</a> },
  { title: 'Address', cell: ({ url }) => url },
  { title: 'State', cell: ({ active }) => (active ? 'in use' : 'not used') },
  { title: 'For', kind: 'wide', cell: ({ global }) => (global ? 'everybody' : 'its owner') },
  { title: 'Required claims', kind: 'wide', cell: ({ required_claims: names }) => joinNames(names) },
]

/** The catalogs of other services that this one can reach. */
export const ManagersPage = (): JSX.Element => (
  <ListPage
    title="Catalog managers"
    collection={managers}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, url }) => `${name} ${url}`}
    empty="There are no catalog managers. One is the stored address of another service’s catalog, with credentials."
  >
    <Action
      label="Add a catalog manager"
      kind="primary"
      operation="catalogManagers.create"
      fields={managerFields()}
      toCall={values => ({ body: readManager(values) })}
    />
  </ListPage>
)
