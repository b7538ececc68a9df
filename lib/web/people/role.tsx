import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Grants } from '../parts/grants.tsx'
import { Missing } from '../parts/missing.tsx'
import { joinNames } from '../parts/text.ts'
import type { PageProps } from '../pages/pages.ts'
import { roles } from '../state/roles.ts'
import { goTo } from '../state/route.ts'
import { useStore } from '../state/store.ts'
import { useClaimNames } from './use-names.ts'

/** One role: its claims, and who holds it. */
export const RolePage = ({ parts: [reference = ''] }: PageProps): JSX.Element => {
  const list = useStore(roles)
  const claimNames = useClaimNames()
  const role = list.rows.find(({ id }) => id === reference)
  if (!role) return <Missing what="role" list={list} />
  const { id, claims, users, internal } = role
  return (
    <section class="page">
      <header>
        <h1>{id}</h1>
        <div class="actions">
          {!internal && (
            <Action
              label="Delete"
              kind="danger"
              operation="roles.delete"
              explanation={`${id} is deleted, and its holders lose its claims.`}
              toCall={() => ({ params: { id } })}
              onDone={() => (goTo('roles'), `${id} was deleted.`)}
            />
          )}
        </div>
      </header>
      <Facts
        facts={[
          ['Description', role.description],
          ['Held by', joinNames(users.map(({ username }) => username)) || 'nobody'],
          ['Of the service', internal && 'it cannot be removed'],
        ]}
      />
      <Grants
        title="Claims"
        one="claim"
        names={claims.map(claim => claim.id)}
        suggestions={claimNames}
        give="roles.addClaim"
        take="roles.removeClaim"
        toGive={name => ({ params: { id }, body: { name } })}
        toTake={claim => ({ params: { id, claim } })}
      />
    </section>
  )
}
