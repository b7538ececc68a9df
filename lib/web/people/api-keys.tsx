import type { ApiKey } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { splitWords } from '../parts/form-text.ts'
import { ListPage } from '../parts/list-page.tsx'
import { Secret } from '../parts/secret.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime, joinNames } from '../parts/text.ts'
import { apiKeys } from '../state/api-keys.ts'

const Change = ({ id, name, revoked }: ApiKey): JSX.Element => (
  <span class="actions">
    {!revoked && (
      <Action
        label="Revoke"
        operation="auth.revokeApiKey"
        explanation={`Nobody can use ${name} any more. This cannot be undone.`}
        toCall={() => ({ params: { id } })}
      />
    )}
    <Action label="Delete" kind="danger" operation="auth.deleteApiKey" toCall={() => ({ params: { id } })} />
  </span>
)

const columns: readonly Column<ApiKey>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Of the user', kind: 'wide', cell: ({ user_id }) => <code>{user_id}</code> },
  { title: 'State', cell: ({ revoked }) => (revoked ? 'revoked' : 'can be used') },
  { title: 'Only these claims', kind: 'wide', cell: ({ claims = [] }) => joinNames(claims) || 'all of the user' },
  { title: 'Expires', kind: 'wide', cell: ({ expires_at: time }) => (time ? formatTime(time) : 'never') },
  { title: 'Created', kind: 'wide', cell: ({ created_at: time }) => formatTime(time) },
  { title: 'Change', cell: key => <Change {...key} /> },
]

/** The credentials of programs. */
export const ApiKeysPage = (): JSX.Element => (
  <ListPage
    title="API keys"
    collection={apiKeys}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, user_id, claims = [] }) => `${name} ${user_id} ${joinNames(claims)}`}
    empty="There are no API keys. A key is the credential of a program; it has at most the rights of its user."
  >
    <Action
      label="Create an API key"
      kind="primary"
      operation="auth.createApiKey"
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'user', label: 'User', help: 'Whose key it is: a user name. Yours if left out.' },
        { name: 'claims', label: 'Only these claims', kind: 'area', help: 'All claims of the user if left out.' },
        { name: 'expires', label: 'Expires', help: 'A time, such as 2027-12-31T08:00:00Z; never if left out.' },
      ]}
      toCall={({ name, user, claims = '', expires }) => ({
        body: {
          name,
          ...(user && { user_id: user }),
          ...(claims.trim() && { claims: splitWords(claims) }),
          ...(expires && { expires_at: expires }),
        },
      })}
      // The reply of the service, by its contract.
      onDone={reply => <Secret name="X-Api-Key" value={(reply as ApiKey).encoded} />}
      keepsNotice
    />
  </ListPage>
)
