import type { CachedManifest } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { formatBytes } from '../parts/byte-size.ts'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { cachedPacks } from '../state/cached-packs.ts'

const columns: readonly Column<CachedManifest>[] = [
  { title: 'Catalog id', cell: ({ catalog_id }) => catalog_id },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Architecture', kind: 'wide', cell: ({ architecture }) => architecture },
  { title: 'On disk', kind: 'number', cell: ({ cache_size }) => formatBytes(cache_size) },
  { title: 'Used', kind: 'number', cell: ({ cache_used_count }) => cache_used_count },
  { title: 'Cached', kind: 'wide', cell: ({ cache_date }) => formatTime(cache_date) },
  {
    title: 'Change',
    cell: ({ catalog_id: catalogId, version }) => (
      <Action
        label="Delete"
        kind="danger"
        operation="catalogCache.delete"
        explanation={`The next pull of ${catalogId} ${version} fetches it again.`}
        toCall={() => ({ params: { catalogId, version } })}
      />
    ),
  },
]

/** The packs that this host keeps for further pulls. */
export const CachePage = (): JSX.Element => (
  <ListPage
    title="Cache"
    collection={cachedPacks}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ catalog_id, version, architecture }) => `${catalog_id} ${version} ${architecture}`}
    empty="The cache is empty. Each pull leaves its pack here, from which the next one copies."
  >
    <Action
      label="Clear the cache"
      kind="danger"
      operation="catalogCache.clear"
      explanation="All packs in the cache are deleted. Machines stay."
      toCall={() => ({})}
    />
  </ListPage>
)
