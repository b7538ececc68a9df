import type { CatalogManifest, RemoteManifest } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { formatBytes } from '../parts/byte-size.ts'
import { Facts } from '../parts/facts.tsx'
import { Grants } from '../parts/grants.tsx'
import { formatTime } from '../parts/text.ts'
import { connectionField } from './connection-field.ts'
import type { ManifestOperations } from './own-operations.ts'
import { ManifestState } from './manifest-state.tsx'
import { PullManifest } from './pull-manifest.tsx'

interface Props {
  readonly manifest: CatalogManifest | RemoteManifest
  readonly operations: ManifestOperations
  /** The catalog manager that has the manifest; left out for one of this catalog. */
  readonly manager?: string
  /** Called when the manifest has been deleted. */
  readonly onDeleted: () => void
}

/** One manifest: what it is, and what can be done with it. */
export const ManifestView = ({ manifest, operations, manager, onDeleted }: Props): JSX.Element => {
  const { catalog_id: catalogId = '', version = '', architecture = '', tainted, revoked } = manifest
  const params = { ...(manager !== undefined && { id: manager }), catalogId, version, architecture }
  const toCall = () => ({ params })
  const grants = [
    ['Tags', 'tag', 'tags', manifest.tags, operations.addTags, operations.removeTags],
    [
      'Required claims',
      'claim',
      'required_claims',
      manifest.required_claims,
      operations.addClaims,
      operations.removeClaims,
    ],
    ['Required roles', 'role', 'required_roles', manifest.required_roles, operations.addRoles, operations.removeRoles],
  ] as const
  return (
    <section class="page">
      <header>
        <h1>
          {catalogId} {version}
        </h1>
        <ManifestState manifest={manifest} />
        <div class="actions">
          {!revoked && !tainted && <PullManifest operation={operations.pull} manifest={params} />}
          <Action
            label="Describe"
            operation={operations.describe}
            fields={[{ name: 'description', label: 'Description', kind: 'area', value: manifest.description ?? '' }]}
            toCall={({ description }) => ({ params, body: { description } })}
          />
          <Action
            label="Change the connection"
            operation={operations.connect}
            fields={[{ ...connectionField, value: '' }]}
            toCall={({ connection }) => ({ params, body: { connection } })}
          />
          {tainted ? (
            <Action label="Untaint" operation={operations.untaint} toCall={toCall} />
          ) : (
            <Action
              label="Taint"
              operation={operations.taint}
              explanation="Nobody can pull it until it is untainted."
              toCall={toCall}
            />
          )}
          {!revoked && (
            <Action
              label="Revoke"
              kind="danger"
              operation={operations.revoke}
              explanation="Nobody can ever pull it again. This cannot be undone."
              toCall={toCall}
            />
          )}
          <Action
            label="Delete"
            kind="danger"
            operation={operations.delete}
            explanation="The manifest is deleted, and its objects on the storage."
            fields={[{ name: 'keep', label: 'Leave the objects on the storage', kind: 'checkbox' }]}
            toCall={({ keep }) => ({ params, ...(keep && { query: { clean_remote: false } }) })}
            onDone={() => (onDeleted(), `${catalogId} ${version} was deleted.`)}
          />
        </div>
      </header>
      <Facts
        facts={[
          ['Description', manifest.description],
          ['Architecture', architecture],
          ['Type', manifest.type],
          ['Machine', manifest.size !== undefined && formatBytes(manifest.size)],
          ['Pack', manifest.pack_size !== undefined && formatBytes(manifest.pack_size)],
          ['Storage', manifest.provider?.type],
          ['Downloads', manifest.download_count],
          ['Tainted by', manifest.tainted_by],
          ['Revoked by', manifest.revoked_by],
          ['Created', manifest.created_at && formatTime(manifest.created_at)],
          ['SHA-256 of the pack', manifest.pack_sha256 && <code>{manifest.pack_sha256}</code>],
        ]}
      />
      {grants.map(([title, one, member, names = [], give, take]) => (
        <Grants
          key={title}
          title={title}
          one={one}
          names={names}
          give={give}
          take={take}
          toGive={name => ({ params, body: { [member]: [name] } })}
          toTake={name => ({ params, body: { [member]: [name] } })}
        />
      ))}
    </section>
  )
}
