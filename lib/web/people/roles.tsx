import type { Role } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { splitWords } from '../parts/form-text.ts'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { joinNames } from '../parts/text.ts'
import { roles } from '../state/roles.ts'
import { goTo, linkTo } from '../state/route.ts'

const nameHolders = ({ users }: Role): string => joinNames(users.map(({ username }) => username))

const columns: readonly Column<Role>[] = [
  { title: 'Role', cell: ({ id }) => <a href={linkTo('roles', id)}>{id}</a> },
  { title: 'Claims', kind: 'number', cell: ({ claims }) => claims.length },
  { title: 'Held by', kind: 'wide', cell: nameHolders },
  { title: 'Description', kind: 'wide', cell: ({ description }) => description },
  { title: 'Of the service', kind: 'wide', cell: ({ internal }) => internal && 'yes' },
]

/** The roles: named sets of claims. */
export const RolesPage = (): JSX.Element => (
  <ListPage
    title="Roles"
    collection={roles}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={role => `${role.id} ${role.description ?? ''} ${nameHolders(role)}`}
    empty="There are no roles."
  >
    <Action
      label="Add a role"
      kind="primary"
      operation="roles.create"
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'description', label: 'Description' },
        { name: 'claims', label: 'Claims', kind: 'area', help: 'Names of claims, such as LIST_VM UPDATE_VM_STATES.' },
      ]}
      toCall={({ name, description, claims }) => ({
        body: { name, ...(description && { description }), claims: splitWords(claims) },
      })}
      // The reply of the service, by its contract.
      onDone={reply => (goTo('roles', (reply as Role).id), 'The role was added.')}
    />
  </ListPage>
)
