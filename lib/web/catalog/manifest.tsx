import type { JSX } from 'preact'
import { Missing } from '../parts/missing.tsx'
import type { PageProps } from '../pages/pages.ts'
import { manifests } from '../state/manifests.ts'
import { goTo } from '../state/route.ts'
import { useStore } from '../state/store.ts'
import { ownOperations } from './own-operations.ts'
import { ManifestView } from './manifest-view.tsx'

/** One manifest of this catalog. */
export const ManifestPage = ({ parts: [id, version, architecture] }: PageProps): JSX.Element => {
  const list = useStore(manifests)
  const manifest = list.rows.find(
    row => row.catalog_id === id && row.version === version && row.architecture === architecture,
  )
  if (!manifest) return <Missing what="manifest" list={list} />
  return <ManifestView manifest={manifest} operations={ownOperations} onDeleted={() => goTo('catalog')} />
}
