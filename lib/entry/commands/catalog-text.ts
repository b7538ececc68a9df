import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { byteSize } from '#lib/byte-size.ts'
import { tableText, timeText, visible } from '../admin/text-table.ts'

/** Catalog id, version and architecture: what tells a manifest from all others. */
export const nameOf = ({
  catalog_id,
  version,
  architecture,
}: Pick<CatalogManifest, 'catalog_id' | 'version'> & { readonly architecture: string }): string =>
  visible(`${catalog_id} ${version} ${architecture}`)

/** Zero stands for not known. */
const sizeText = (bytes: number): string => (bytes === 0 ? '-' : byteSize(bytes))

const flagsOf = ({ tainted, revoked }: CatalogManifest): string =>
  [tainted && 'tainted', revoked && 'revoked'].filter(Boolean).join(', ')

const toTheRight = (cells: readonly string[]): readonly string[] => {
  const width = Math.max(...cells.map(cell => cell.length))
  return cells.map(cell => cell.padStart(width))
}

const before = (a: CatalogManifest, b: CatalogManifest): number =>
  a.catalog_id.localeCompare(b.catalog_id) || b.updated_at.localeCompare(a.updated_at)

/** Manifests as a table: by catalog id, and of each the one that changed last first. */
export const manifestTable = (given: readonly CatalogManifest[]): string => {
  const manifests = given.toSorted(before)
  const sizes = toTheRight(['SIZE', ...manifests.map(one => sizeText(one.size))])
  const packs = toTheRight(['PACK', ...manifests.map(one => sizeText(one.pack_size))])
  const rows = manifests.map((one, at) => [
    one.catalog_id,
    one.version,
    one.architecture,
    one.type,
    sizes[at + 1]!,
    packs[at + 1]!,
    one.tags.join(' '),
    timeText(one.updated_at),
    flagsOf(one),
  ])
  const heads = ['NAME', 'VERSION', 'ARCHITECTURE', 'TYPE', sizes[0]!, packs[0]!, 'TAGS', 'UPDATED', 'FLAGS']
  return tableText([heads, ...rows])
}

const done = (at: string | undefined, by: string): string =>
  [at && `at ${timeText(at)}`, by && `by ${by}`].filter(Boolean).join(' ')

const required = ({ cpu, memory, disk }: CatalogManifest['minimum_requirements']): string =>
  [cpu > 0 && `${cpu} cores`, memory > 0 && `${memory} MB of memory`, disk > 0 && `${disk} MB of disk`]
    .filter(Boolean)
    .join(', ')

const providerText = ({ type, meta }: CatalogManifest['provider']): string =>
  [type, ...Object.entries(meta).map(([key, value]) => `${key}=${value}`)].join(' ')

const formOf = ({ is_compressed, pack_filename }: CatalogManifest): string =>
  pack_filename.endsWith(indexSuffix) ? ', in chunks' : is_compressed ? ', compressed' : ''

/**
 * All that a manifest says that people ask for; what is not set is left out.
 * @param signed by which keys its pack is signed, where that is known
 */
export const manifestText = (one: CatalogManifest, signed = ''): string => {
  const rows: readonly (readonly [string, string])[] = [
    ['flags', flagsOf(one)],
    ['description', one.description],
    ['type', one.type],
    ['size', sizeText(one.size)],
    ['pack', `${sizeText(one.pack_size)}${formOf(one)}`],
    ['signed', signed],
    ['file', `${one.path}/${one.pack_filename}`],
    ['SHA-256', one.pack_sha256],
    ['provider', providerText(one.provider)],
    ['tags', one.tags.join(' ')],
    ['needs claims', one.required_claims.join(' ')],
    ['needs roles', one.required_roles.join(' ')],
    ['needs at least', required(one.minimum_requirements)],
    [
      'pulled',
      one.download_count === 0
        ? 'never'
        : `${one.download_count === 1 ? 'once' : `${one.download_count} times`}, last ${done(one.last_downloaded_at, one.last_downloaded_user)}`,
    ],
    ['created', timeText(one.created_at)],
    ['updated', timeText(one.updated_at)],
    ['tainted', one.tainted ? done(one.tainted_at, one.tainted_by) : ''],
    ['revoked', one.revoked ? done(one.revoked_at, one.revoked_by) : ''],
  ]
  const said = rows.filter(([, value]) => value !== '').map(([name, value]) => [`  ${name}`, value])
  return `${nameOf(one)}\n${tableText(said)}`
}
