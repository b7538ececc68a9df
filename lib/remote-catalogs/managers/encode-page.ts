import { createHash } from 'node:crypto'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import type { Filter } from '#lib/calls/list-filter.ts'
import type { ManifestPage } from './managed-catalogs.ts'

/**
 * A page of the catalog of a manager, with the link to the next one through the same manager. It is cut by the remote
 * service and narrowed afterwards: it may have fewer manifests than were asked for, or none, and still not be the last.
 */
export const encodePage = (id: string, { manifests, next }: ManifestPage, keep: Filter | undefined): PreparedBody => {
  const json = JSON.stringify(keep ? manifests.filter(keep) : manifests)
  const digest = createHash('sha256').update(json).digest('base64url').slice(0, 16)
  const path = toServedPath(`/v1/catalog-managers/${encodeURIComponent(id)}/catalog`)
  return new PreparedBody(
    json,
    `"${digest}${next ? '.more' : ''}"`,
    next ? { Link: `<${path}?${next}>; rel="next"` } : {},
  )
}
