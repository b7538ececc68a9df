import type { ClaimWithUsers } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { joinNames } from '../parts/text.ts'
import { claims } from '../state/claims.ts'

const columns: readonly Column<ClaimWithUsers>[] = [
  { title: 'Claim', cell: ({ id }) => <code>{id}</code> },
  { title: 'Protects', kind: 'wide', cell: ({ group, resource }) => [group, resource].filter(Boolean).join(' · ') },
  { title: 'Held directly by', cell: ({ users }) => joinNames(users.map(({ username }) => username)) },
  { title: 'Description', kind: 'wide', cell: ({ description }) => description },
  {
    title: 'Change',
    cell: ({ id, internal }) =>
      !internal && (
        <Action
          label="Delete"
          kind="danger"
          operation="claims.delete"
          explanation={`${id} is deleted, and taken from all who hold it.`}
          toCall={() => ({ params: { id } })}
        />
      ),
  },
]

/** The claims: each is one right. */
export const ClaimsPage = (): JSX.Element => (
  <ListPage
    title="Claims"
    collection={claims}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ id, group = '', resource = '', users }) =>
      `${id} ${group} ${resource} ${joinNames(users.map(({ username }) => username))}`
    }
    empty="There are no claims."
  >
    <Action
      label="Add a claim"
      operation="claims.create"
      explanation="Manifests can require a claim of your own, so that only its holders see them."
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'description', label: 'Description' },
      ]}
      toCall={({ name, description }) => ({ body: { name, ...(description && { description }) } })}
    />
  </ListPage>
)
