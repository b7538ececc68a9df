import type { User } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime, joinNames } from '../parts/text.ts'
import { goTo, linkTo } from '../state/route.ts'
import { users } from '../state/users.ts'
import { splitWords } from '../parts/form-text.ts'
import { useRoleNames } from './use-names.ts'

const columns: readonly Column<User>[] = [
  { title: 'User', cell: ({ id, username }) => <a href={linkTo('users', id)}>{username}</a> },
  { title: 'Name', kind: 'wide', cell: ({ name }) => name },
  { title: 'E-mail', kind: 'wide', cell: ({ email }) => email },
  { title: 'Roles', cell: ({ roles }) => joinNames(roles) },
  { title: 'Claims', kind: 'wide', cell: ({ claims }) => joinNames(claims) },
  { title: 'Locked until', kind: 'wide', cell: ({ locked_until: time }) => time && formatTime(time) },
]

const AddUser = (): JSX.Element => (
  <Action
    label="Add a user"
    kind="primary"
    operation="users.create"
    fields={[
      { name: 'username', label: 'User name', isRequired: true },
      { name: 'name', label: 'Full name', isRequired: true },
      { name: 'email', label: 'E-mail address', kind: 'email', isRequired: true },
      { name: 'password', label: 'Password', kind: 'password', help: 'Without one the user has API keys alone.' },
      {
        name: 'roles',
        label: 'Roles',
        value: 'USER',
        help: 'Names with spaces between them.',
        suggestions: useRoleNames(),
      },
    ]}
    toCall={({ username, name, email, password, roles }) => ({
      body: { username, name, email, ...(password && { password }), roles: splitWords(roles) },
    })}
    // The reply of the service, by its contract.
    onDone={reply => (goTo('users', (reply as User).id), 'The user was added.')}
  />
)

/** Who can sign in, and how to add somebody. */
export const UsersPage = (): JSX.Element => (
  <ListPage
    title="Users"
    collection={users}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ username, name, email, roles, claims }) =>
      `${username} ${name} ${email} ${joinNames([...roles, ...claims])}`
    }
    empty="There are no users."
  >
    <AddUser />
  </ListPage>
)
