import type { CatalogManifest } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { formatBytes } from '../parts/byte-size.ts'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime, joinNames } from '../parts/text.ts'
import { manifests } from '../state/manifests.ts'
import { linkTo } from '../state/route.ts'
import { ImportManifest } from './import-manifest.tsx'
import { CollectGarbage } from './collect-garbage.tsx'
import { describeUse, ManifestState } from './manifest-state.tsx'

const columns: readonly Column<CatalogManifest>[] = [
  {
    title: 'Catalog id',
    cell: ({ catalog_id: id, version, architecture }) => (
      <a href={linkTo('catalog', id, version, architecture)}>{id}</a>
    ),
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Architecture', kind: 'wide', cell: ({ architecture }) => architecture },
  { title: 'Type', kind: 'wide', cell: ({ type }) => type },
  { title: 'State', cell: manifest => <ManifestState manifest={manifest} /> },
  {
    title: 'Tags',
    cell: ({ tags }) =>
      tags.map(tag => (
        <span class="label" key={tag}>
          {tag}
        </span>
      )),
  },
  { title: 'Pack', kind: 'number', cell: ({ pack_size: size }) => formatBytes(size) },
  { title: 'Downloads', kind: 'number', cell: ({ download_count: count }) => count },
  { title: 'Created', kind: 'wide', cell: ({ created_at: time }) => formatTime(time) },
]

/** The manifests of the catalog. */
export const ManifestsPage = (): JSX.Element => (
  <ListPage
    title="Catalog"
    collection={manifests}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={manifest =>
      `${manifest.catalog_id} ${manifest.version} ${manifest.architecture} ${joinNames(manifest.tags)} ${manifest.description} ${describeUse(manifest)}`
    }
    empty="The catalog is empty. Push a stopped machine from its page; any host of this catalog can pull it then."
  >
    <ImportManifest />
    <CollectGarbage />
  </ListPage>
)
