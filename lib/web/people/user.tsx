import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Grants } from '../parts/grants.tsx'
import { Missing } from '../parts/missing.tsx'
import { formatTime, joinNames } from '../parts/text.ts'
import type { PageProps } from '../pages/pages.ts'
import { goTo } from '../state/route.ts'
import { useStore } from '../state/store.ts'
import { users } from '../state/users.ts'
import { useClaimNames, useRoleNames } from './use-names.ts'

/** One user: what they may do, and how to change that. */
export const UserPage = ({ parts: [reference = ''] }: PageProps): JSX.Element => {
  const list = useStore(users)
  const [roleNames, claimNames] = [useRoleNames(), useClaimNames()]
  const user = list.rows.find(({ id, username }) => id === reference || username === reference)
  if (!user) return <Missing what="user" list={list} />
  const { id, username, roles, claims } = user
  return (
    <section class="page">
      <header>
        <h1>{username}</h1>
        <div class="actions">
          <Action
            label="Change"
            operation="users.update"
            fields={[
              { name: 'name', label: 'Full name', value: user.name, isRequired: true },
              { name: 'email', label: 'E-mail address', kind: 'email', value: user.email, isRequired: true },
            ]}
            toCall={({ name, email }) => ({ params: { id }, body: { name, email } })}
          />
          <Action
            label="Set the password"
            operation="users.update"
            explanation={`All sessions of ${username} end.`}
            fields={[{ name: 'password', label: 'New password', kind: 'password', isRequired: true }]}
            toCall={({ password }) => ({ params: { id }, body: { password } })}
          />
          {user.locked_until && <Action label="Unlock" operation="users.unlock" toCall={() => ({ params: { id } })} />}
          <Action
            label="Delete"
            kind="danger"
            operation="users.delete"
            explanation={`${username} is deleted, with the API keys. The machines stay.`}
            toCall={() => ({ params: { id } })}
            onDone={() => (goTo('users'), `${username} was deleted.`)}
          />
        </div>
      </header>
      <Facts
        facts={[
          ['Name', user.name],
          ['E-mail', user.email],
          ['Super user', user.isSuperUser && 'passes every check of a claim'],
          ['Locked until', user.locked_until && formatTime(user.locked_until)],
          ['Added', formatTime(user.created_at)],
          ['Id', <code>{id}</code>],
        ]}
      />
      <Grants
        title="Roles"
        one="role"
        names={roles}
        suggestions={roleNames}
        give="users.giveRole"
        take="users.takeRole"
        toGive={name => ({ params: { id }, body: { name } })}
        toTake={role => ({ params: { id, role } })}
      />
      <Grants
        title="Claims beside the roles"
        one="claim"
        names={claims}
        suggestions={claimNames}
        give="users.giveClaim"
        take="users.takeClaim"
        toGive={name => ({ params: { id }, body: { name } })}
        toTake={claim => ({ params: { id, claim } })}
      />
      <details>
        <summary>All claims with those of the roles</summary>
        <p>{joinNames(user.effective_claims.map(({ name }) => name)) || 'None.'}</p>
      </details>
    </section>
  )
}
