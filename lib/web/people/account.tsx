import type { UserConfig } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Table, type Column } from '../parts/table.tsx'
import { Secret } from '../parts/secret.tsx'
import { formatTime, joinNames } from '../parts/text.ts'
import { session } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { userSettings } from '../state/user-settings.ts'

const columns: readonly Column<UserConfig>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Short name', kind: 'wide', cell: ({ slug }) => <code>{slug}</code> },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Value', cell: ({ value }) => <code>{value}</code> },
  { title: 'Changed', kind: 'wide', cell: ({ updated_at: time }) => formatTime(time) },
  {
    title: 'Change',
    cell: ({ id, name, value }) => (
      <span class="actions">
        <Action
          label="Change"
          operation="userConfigs.update"
          fields={[{ name: 'value', label: 'Value', value }]}
          toCall={values => ({ params: { id }, body: { value: values['value'] } })}
        />
        <Action
          label="Delete"
          kind="danger"
          operation="userConfigs.delete"
          explanation={`The setting ${name} is deleted.`}
          toCall={() => ({ params: { id } })}
        />
      </span>
    ),
  },
]

/** The signed-in user: the rights, the password, and settings that programs keep for the user. */
export const AccountPage = (): JSX.Element => {
  const user = useStore(session)
  const { rows } = useStore(userSettings)
  return (
    <section class="page">
      <header>
        <h1>{user?.username}</h1>
        <div class="actions">
          <Action
            label="Change your password"
            kind="primary"
            operation="auth.changePassword"
            explanation="All of your sessions end, this one too. Sign in with the new password then."
            fields={[
              { name: 'password', label: 'Present password', kind: 'password', isRequired: true },
              { name: 'next', label: 'New password', kind: 'password', isRequired: true },
            ]}
            toCall={({ password, next }) => ({ body: { password, new_password: next } })}
          />
          <Action
            label="Make a first-access link"
            operation="auth.createLink"
            explanation="Who opens the link sets your password and is signed in as you. It works once, within 24 hours."
            toCall={() => ({})}
            // The reply of the service, by its contract.
            onDone={reply => (
              <Secret name="Link" value={`${location.origin}/${(reply as { readonly fragment: string }).fragment}`} />
            )}
            keepsNotice
          />
        </div>
      </header>
      <Facts
        facts={[
          ['E-mail', user?.email],
          ['Roles', joinNames(user?.roles ?? [])],
          ['Super user', user?.super_user && 'passes every check of a claim'],
          ['Claims', joinNames(user?.claims ?? [])],
        ]}
      />
      <section aria-label="Stored settings">
        <header>
          <h2>Stored settings</h2>
          <div class="actions">
            <Action
              label="Add a setting"
              operation="userConfigs.create"
              explanation="Programs store small values here. Nobody else sees them."
              fields={[
                { name: 'name', label: 'Name', isRequired: true },
                {
                  name: 'type',
                  label: 'Type',
                  kind: 'select',
                  options: [
                    ['string', 'string'],
                    ['int', 'int'],
                    ['bool', 'bool'],
                    ['json', 'json'],
                  ],
                },
                { name: 'value', label: 'Value' },
              ]}
              toCall={({ name, type, value }) => ({ body: { name, type, value } })}
            />
          </div>
        </header>
        {rows.length === 0 ? (
          <p class="hint">There are none.</p>
        ) : (
          <Table label="Stored settings" columns={columns} rows={rows} keyOf={({ id }) => id} />
        )}
      </section>
    </section>
  )
}
