import * as z from 'zod'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { Encoded } from '#lib/http/encoded.ts'
import type { Filter } from '#lib/http/filter.ts'
import { servedPath } from '#lib/http/paths.ts'
import type { Inventory, Position } from './inventory.ts'
import { digest, foundTag, type Kept, manifestJson, manifestTag, shownManifest } from './shown.ts'
import { visibleTo } from './visible.ts'

/** What of a list is wanted. */
export interface ListQuery {
  /** Manifests on a page; all when left out. */
  readonly limit?: number | undefined
  /** From the link of the page before. */
  readonly cursor?: string | undefined
}

const cursorOf = ({ updated_at, id }: Position): string =>
  Buffer.from(JSON.stringify([updated_at, id])).toString('base64url')

const Cursor = z.tuple([z.string().max(64), z.string().max(64)])

const positionOf = (cursor: string): Position => {
  try {
    const [updated_at, id] = Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
    return { updated_at, id }
  } catch {
    throw new ServiceError('invalid', 'The cursor is not one of this list; take it from the Link of the page before.')
  }
}

/** Manifests as one JSON array. As text: buffers of many pages would have the whole heap collected again and again. */
export const encodeManifests = (manifests: readonly Kept[], etag: string, headers = {}): Encoded =>
  new Encoded(`[${manifests.map(manifestJson).join(',')}]`, etag, headers)

/** One manifest as the array that the spec says, with its own tag. */
export const encodeManifest = (manifest: Kept): Encoded => encodeManifests([manifest], manifestTag(manifest))

/** Several manifests, with a tag that is theirs. */
export const encodeFound = (manifests: readonly Kept[]): Encoded =>
  manifests.length === 1 ? encodeManifest(manifests[0]!) : encodeManifests(manifests, foundTag(manifests))

const rightsOf = new WeakMap<Principal, string>()

/** Stands for all that decides what somebody sees. */
const rights = (caller: Principal): string => {
  const known = rightsOf.get(caller)
  if (known !== undefined) return known
  const { superUser, roles, claims } = caller
  const text = superUser ? 'all' : digest(...[...roles].sort(), '', ...[...claims].sort())
  rightsOf.set(caller, text)
  return text
}

/**
 * The manifests that a caller may know of, narrowed and cut to a page, newest change first. Throws `invalid` for a
 * cursor that is none.
 */
export const listManifests = (
  inventory: Inventory,
  caller: Principal,
  { limit = Infinity, cursor }: ListQuery,
  filter: { readonly text: string; readonly keep: Filter } | undefined,
): Encoded => {
  const candidates = cursor === undefined ? inventory.all() : inventory.after(positionOf(cursor))
  const sees = visibleTo(caller)
  const found: Kept[] = []
  for (const one of candidates) {
    if (!sees(one) || (filter && !filter.keep(shownManifest(one)))) continue
    found.push(one)
    if (found.length > limit) break
  }
  const page = found.slice(0, limit)
  const more = found.length > page.length
  const next = more && new URLSearchParams({ limit: String(limit), cursor: cursorOf(page.at(-1)!) })
  // Of what is in it alone: others are not told by it that there is more.
  const tag = `"${digest(rights(caller), filter?.text ?? '', next ? 'more' : '', ...page.map(manifestTag))}"`
  return encodeManifests(page, tag, next ? { Link: `<${servedPath('/v1/catalog')}?${next}>; rel="next"` } : {})
}
