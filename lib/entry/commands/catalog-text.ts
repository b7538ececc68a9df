import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { formatByteSize } from '#lib/byte-size.ts'
import { formatTable, formatTime, escapeControls } from '../admin/text-table.ts'

/** Formats the reference of a manifest: catalog id, version and architecture. */
export const formatManifestName = ({
  catalog_id,
  version,
  architecture,
}: Pick<CatalogManifest, 'catalog_id' | 'version'> & { readonly architecture: string }): string =>
  escapeControls(`${catalog_id} ${version} ${architecture}`)

/** Formats a size. Manifests have 0 for an unknown size. */
const formatSize = (bytes: number): string => (bytes === 0 ? '-' : formatByteSize(bytes))

const formatFlags = ({ tainted, revoked }: CatalogManifest): string =>
  [tainted && 'tainted', revoked && 'revoked'].filter(Boolean).join(', ')

const alignRight = (cells: readonly string[]): readonly string[] => {
  const width = Math.max(...cells.map(cell => cell.length))
  return cells.map(cell => cell.padStart(width))
}

const compareManifests = (a: CatalogManifest, b: CatalogManifest): number =>
  a.catalog_id.localeCompare(b.catalog_id) || b.updated_at.localeCompare(a.updated_at)

/** Formats manifests as a table, ordered by catalog id; the manifest that changed last comes first. */
export const formatManifestTable = (unordered: readonly CatalogManifest[]): string => {
  const manifests = unordered.toSorted(compareManifests)
  const [sizeHead = '', ...sizes] = alignRight(['SIZE', ...manifests.map(manifest => formatSize(manifest.size))])
  const [packHead = '', ...packs] = alignRight(['PACK', ...manifests.map(manifest => formatSize(manifest.pack_size))])
  const rows = manifests.map((manifest, index) => [
    manifest.catalog_id,
    manifest.version,
    manifest.architecture,
    manifest.type,
    sizes[index] ?? '',
    packs[index] ?? '',
    manifest.tags.join(' '),
    formatTime(manifest.updated_at),
    formatFlags(manifest),
  ])
  const heads = ['NAME', 'VERSION', 'ARCHITECTURE', 'TYPE', sizeHead, packHead, 'TAGS', 'UPDATED', 'FLAGS']
  return formatTable([heads, ...rows])
}

const formatEvent = (time: string | undefined, by: string): string =>
  [time && `at ${formatTime(time)}`, by && `by ${by}`].filter(Boolean).join(' ')

const formatRequirements = ({ cpu, memory, disk }: CatalogManifest['minimum_requirements']): string =>
  [cpu > 0 && `${cpu} cores`, memory > 0 && `${memory} MB of memory`, disk > 0 && `${disk} MB of disk`]
    .filter(Boolean)
    .join(', ')

const formatProvider = ({ type, meta }: CatalogManifest['provider']): string =>
  [type, ...Object.entries(meta).map(([key, value]) => `${key}=${value}`)].join(' ')

const formatPackForm = ({ is_compressed, pack_filename }: CatalogManifest): string =>
  pack_filename.endsWith(indexSuffix) ? ', in chunks' : is_compressed ? ', compressed' : ''

/**
 * Formats a manifest for people. Leaves out the fields that are not set.
 * @param signed the keys that have signed the pack, if they are known
 */
export const formatManifest = (manifest: CatalogManifest, signed = ''): string => {
  const rows: readonly (readonly [string, string])[] = [
    ['flags', formatFlags(manifest)],
    ['description', manifest.description],
    ['type', manifest.type],
    ['size', formatSize(manifest.size)],
    ['pack', `${formatSize(manifest.pack_size)}${formatPackForm(manifest)}`],
    ['signed', signed],
    ['file', `${manifest.path}/${manifest.pack_filename}`],
    ['SHA-256', manifest.pack_sha256],
    ['provider', formatProvider(manifest.provider)],
    ['tags', manifest.tags.join(' ')],
    ['needs claims', manifest.required_claims.join(' ')],
    ['needs roles', manifest.required_roles.join(' ')],
    ['needs at least', formatRequirements(manifest.minimum_requirements)],
    [
      'pulled',
      manifest.download_count === 0
        ? 'never'
        : `${manifest.download_count === 1 ? 'once' : `${manifest.download_count} times`}, last ${formatEvent(manifest.last_downloaded_at, manifest.last_downloaded_user)}`,
    ],
    ['created', formatTime(manifest.created_at)],
    ['updated', formatTime(manifest.updated_at)],
    ['tainted', manifest.tainted ? formatEvent(manifest.tainted_at, manifest.tainted_by) : ''],
    ['revoked', manifest.revoked ? formatEvent(manifest.revoked_at, manifest.revoked_by) : ''],
  ]
  const shownRows = rows.filter(([, value]) => value !== '').map(([name, value]) => [`  ${name}`, value])
  return `${formatManifestName(manifest)}\n${formatTable(shownRows)}`
}
