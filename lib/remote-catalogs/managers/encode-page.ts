import { createHash } from 'node:crypto'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import type { Filter } from '#lib/calls/list-filter.ts'
import type { ManifestPage } from './managed-catalogs.ts'

/**
 * Encodes a page of a manager's catalog, with the link to the next one through the same manager. The remote service cuts the
 * pages and this one filters them, so a page may have fewer manifests than requested, or none, without being the last.
 */
export const encodePage = (
  managerId: string,
  { manifests, next }: ManifestPage,
  filter: Filter | undefined,
): PreparedBody => {
  const json = JSON.stringify(filter ? manifests.filter(filter) : manifests)
  const digest = createHash('sha256').update(json).digest('base64url').slice(0, 16)
  const path = toServedPath(`/v1/catalog-managers/${encodeURIComponent(managerId)}/catalog`)
  return new PreparedBody(
    json,
    `"${digest}${next ? '.more' : ''}"`,
    next ? { Link: `<${path}?${next}>; rel="next"` } : {},
  )
}
