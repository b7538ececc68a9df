import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Missing } from '../parts/missing.tsx'
import { Problem } from '../parts/problem.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { joinNames } from '../parts/text.ts'
import type { PageProps } from '../pages/pages.ts'
import { managers } from '../state/managers.ts'
import { goTo, linkTo } from '../state/route.ts'
import { isMe } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import type { RemoteManifest } from '#lib/client/api.gen.ts'
import { ManifestView } from './manifest-view.tsx'
import { managedOperations } from './managed-operations.ts'
import { ManifestState } from './manifest-state.tsx'
import { managerFields, readManager } from './manager-fields.ts'
import { PushToManager } from './push-to-manager.tsx'
import { useRemoteManifests } from './use-remote-manifests.ts'

const columnsOf = (manager: string): readonly Column<RemoteManifest>[] => [
  {
    title: 'Catalog id',
    cell: ({ catalog_id: id = '', version = '', architecture = '' }) => (
      <a href={linkTo('managers', manager, id, version, architecture)}>{id}</a>
    ),
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Architecture', kind: 'wide', cell: ({ architecture }) => architecture },
  { title: 'State', cell: manifest => <ManifestState manifest={manifest} /> },
  { title: 'Tags', cell: ({ tags = [] }) => joinNames(tags) },
]

/** One catalog manager, with the manifests that it reaches; or one of these manifests. */
export const ManagerPage = ({ parts: [reference = '', catalogId, version, architecture] }: PageProps): JSX.Element => {
  const list = useStore(managers)
  const remote = useRemoteManifests(reference)
  const manager = list.rows.find(({ id }) => id === reference)
  if (!manager) return <Missing what="catalog manager" list={list} />
  const { id, name } = manager
  if (catalogId !== undefined) {
    const manifest = remote.rows.find(
      row => row.catalog_id === catalogId && row.version === version && row.architecture === architecture,
    )
    if (!manifest) return <Missing what="manifest" list={remote} />
    const onDeleted = () => goTo('managers', id)
    return <ManifestView manifest={manifest} operations={managedOperations} manager={id} onDeleted={onDeleted} />
  }
  return (
    <section class="page">
      <header>
        <h1>{name}</h1>
        <div class="actions">
          <PushToManager id={id} />
          <Action
            label="Change"
            operation="catalogManagers.update"
            isOwn={isMe(manager.owner_id)}
            explanation="A secret that is left out stays as it is."
            fields={managerFields(manager)}
            toCall={values => ({ params: { id }, body: readManager(values) })}
          />
          <Action
            label={manager.active ? 'Stop using it' : 'Use it'}
            operation="catalogManagers.update"
            isOwn={isMe(manager.owner_id)}
            toCall={() => ({ params: { id }, body: { active: !manager.active } })}
          />
          <Action
            label="Delete"
            kind="danger"
            operation="catalogManagers.delete"
            isOwn={isMe(manager.owner_id)}
            explanation={`${name} and its credentials are deleted. The other catalog stays as it is.`}
            toCall={() => ({ params: { id } })}
            onDone={() => (goTo('managers'), `${name} was deleted.`)}
          />
        </div>
      </header>
      <Facts
        facts={[
          ['Address', manager.url],
          ['State', manager.active ? 'in use' : 'not used'],
          ['For', manager.global ? 'everybody' : 'its owner'],
          ['Signs in with', manager.authentication_method],
          ['Required claims', joinNames(manager.required_claims)],
          ['Id', <code>{id}</code>],
        ]}
      />
      <h2>Its catalog</h2>
      <Problem text={remote.problem} />
      {remote.isLoaded && !remote.problem && remote.rows.length === 0 && <p class="hint">There are no manifests.</p>}
      {remote.rows.length > 0 && (
        <Table
          label={`Catalog of ${name}`}
          columns={columnsOf(id)}
          rows={remote.rows}
          keyOf={({ catalog_id, version, architecture }) => `${catalog_id} ${version} ${architecture}`}
        />
      )}
    </section>
  )
}
