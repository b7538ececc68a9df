import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { PreparedBody, PreparedParts } from '#lib/calls/prepared-body.ts'
import type { Filter } from '#lib/calls/list-filter.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import type { CatalogContext } from './changes.ts'
import type { ContentStore } from './contents.ts'
import type { ListPosition } from './inventory.ts'
import { digestTexts, formatCommonETag, type ManifestRow, serializeManifest, formatETag, toViewFields } from './view.ts'
import { createVisibilityCheck } from './visibility.ts'

/** The page of a list that a request asks for. */
export interface ListQuery {
  /** The most manifests on the page; all when left out. */
  readonly limit?: number | undefined
  /** The cursor from the link of the previous page. */
  readonly cursor?: string | undefined
}

const encodeCursor = ({ updated_at, id }: ListPosition): string =>
  Buffer.from(JSON.stringify([updated_at, id])).toString('base64url')

const Cursor = z.tuple([z.string().max(64), z.string().max(64)])

/** Reads what `encodeCursor` wrote. Throws `invalid` for any other text. */
const decodeCursor = (cursor: string): ListPosition => {
  try {
    const [updated_at, id] = Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
    return { updated_at, id }
  } catch {
    throw new ServiceError('invalid', 'The cursor is not one of this list; take it from the Link of the previous page.')
  }
}

/** Characters after which a part of a list ends. A shorter list is sent as one text. */
const partLength = 2 ** 20

async function* generateParts(contents: ContentStore, manifests: readonly ManifestRow[]): AsyncGenerator<string> {
  let part = '['
  for (const [at, manifest] of manifests.entries()) {
    part += `${at === 0 ? '' : ','}${await serializeManifest(contents, manifest)}`
    if (part.length < partLength) continue
    yield part
    part = ''
  }
  yield `${part}]`
}

/**
 * Encodes manifests as one JSON array. A list that is longer than one part is generated while it is sent, because it may be
 * longer than a string can be. It is text, because large buffers would cause frequent collections of the whole heap.
 */
export const encodeManifests = async (
  contents: ContentStore,
  manifests: readonly ManifestRow[],
  etag: string,
  headers = {},
): Promise<PreparedBody | PreparedParts> => {
  const parts = generateParts(contents, manifests)
  const [first, second] = [await parts.next(), await parts.next()]
  return second.done
    ? new PreparedBody(first.value ?? '', etag, headers)
    : new PreparedParts(() => generateParts(contents, manifests), etag, headers)
}

/** Encodes one manifest as an array, as the spec requires, with its own ETag. */
export const encodeManifest = async (contents: ContentStore, manifest: ManifestRow): Promise<PreparedBody> =>
  new PreparedBody(`[${await serializeManifest(contents, manifest)}]`, formatETag(manifest))

/** Encodes the manifests of a reference, with a common ETag. */
export const encodeFoundManifests = (
  contents: ContentStore,
  manifests: readonly ManifestRow[],
): Promise<PreparedBody | PreparedParts> => {
  const [first, ...others] = manifests
  return first && others.length === 0
    ? encodeManifest(contents, first)
    : encodeManifests(contents, manifests, formatCommonETag(manifests))
}

const rightsDigests = new WeakMap<Principal, string>()

/** A digest of the rights that decide what a caller sees. Principals are immutable, so it is cached. */
const digestRights = (caller: Principal): string => {
  const cached = rightsDigests.get(caller)
  if (cached !== undefined) return cached
  const { superUser, roles, claims } = caller
  const text = superUser ? 'all' : digestTexts(...[...roles].sort(), '', ...[...claims].sort())
  rightsDigests.set(caller, text)
  return text
}

/**
 * Encodes a page of the manifests that the caller may see and that match the filter, the latest update first. Throws
 * `invalid` for a bad cursor.
 */
export const listManifests = (
  { inventory, contents }: Pick<CatalogContext, 'inventory' | 'contents'>,
  caller: Principal,
  { limit = Infinity, cursor }: ListQuery,
  filter: { readonly text: string; readonly matches: Filter } | undefined,
): Promise<PreparedBody | PreparedParts> => {
  const candidates = cursor === undefined ? inventory.list() : inventory.listAfter(decodeCursor(cursor))
  const canSee = createVisibilityCheck(caller)
  const found: ManifestRow[] = []
  for (const manifest of candidates) {
    if (!canSee(manifest) || (filter && !filter.matches(toViewFields(manifest)))) continue
    found.push(manifest)
    if (found.length > limit) break
  }
  const page = found.slice(0, limit)
  const last = found.length > page.length ? page.at(-1) : undefined
  const next = last && new URLSearchParams({ limit: String(limit), cursor: encodeCursor(last) })
  // The ETag depends only on what the caller can see, so it does not reveal changes of hidden manifests.
  const etag = `"${digestTexts(digestRights(caller), filter?.text ?? '', next ? 'more' : '', ...page.map(formatETag))}"`
  return encodeManifests(
    contents,
    page,
    etag,
    next ? { Link: `<${toServedPath('/v1/catalog')}?${next}>; rel="next"` } : {},
  )
}
