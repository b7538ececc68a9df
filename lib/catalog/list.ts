import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { PreparedBody, PreparedParts } from '#lib/calls/prepared-body.ts'
import type { Filter } from '#lib/calls/list-filter.ts'
import { servedPath } from '#lib/calls/paths.ts'
import type { CatalogContext } from './changes.ts'
import type { Contents } from './contents.ts'
import type { Position } from './inventory.ts'
import { digest, foundTag, type Kept, manifestJson, manifestTag, shownFields } from './view.ts'
import { visibleTo } from './visibility.ts'

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

/** Characters of a list that is made as one text; of a longer one this is about what each part has. */
const mostAtOnce = 2 ** 20

async function* partsOf(contents: Contents, manifests: readonly Kept[]): AsyncGenerator<string> {
  let part = '['
  for (const [at, one] of manifests.entries()) {
    part += `${at === 0 ? '' : ','}${await manifestJson(contents, one)}`
    if (part.length < mostAtOnce) continue
    yield part
    part = ''
  }
  yield `${part}]`
}

/**
 * Manifests as one JSON array. As text: buffers of many pages would have the whole heap collected again and again. A list
 * that is longer than a text can be is made while it is sent.
 */
export const encodeManifests = async (
  contents: Contents,
  manifests: readonly Kept[],
  etag: string,
  headers = {},
): Promise<PreparedBody | PreparedParts> => {
  const parts = partsOf(contents, manifests)
  const [first, second] = [await parts.next(), await parts.next()]
  return second.done
    ? new PreparedBody(first.value ?? '', etag, headers)
    : new PreparedParts(() => partsOf(contents, manifests), etag, headers)
}

/** One manifest as the array that the spec says, with its own tag. */
export const encodeManifest = async (contents: Contents, manifest: Kept): Promise<PreparedBody> =>
  new PreparedBody(`[${await manifestJson(contents, manifest)}]`, manifestTag(manifest))

/** Several manifests, with a tag that is theirs. */
export const encodeFound = (contents: Contents, manifests: readonly Kept[]): Promise<PreparedBody | PreparedParts> =>
  manifests.length === 1
    ? encodeManifest(contents, manifests[0]!)
    : encodeManifests(contents, manifests, foundTag(manifests))

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
  { inventory, contents }: Pick<CatalogContext, 'inventory' | 'contents'>,
  caller: Principal,
  { limit = Infinity, cursor }: ListQuery,
  filter: { readonly text: string; readonly matches: Filter } | undefined,
): Promise<PreparedBody | PreparedParts> => {
  const candidates = cursor === undefined ? inventory.all() : inventory.after(positionOf(cursor))
  const sees = visibleTo(caller)
  const found: Kept[] = []
  for (const one of candidates) {
    if (!sees(one) || (filter && !filter.matches(shownFields(one)))) continue
    found.push(one)
    if (found.length > limit) break
  }
  const page = found.slice(0, limit)
  const more = found.length > page.length
  const next = more && new URLSearchParams({ limit: String(limit), cursor: cursorOf(page.at(-1)!) })
  // Of what is in it alone: others are not told by it that there is more.
  const tag = `"${digest(rights(caller), filter?.text ?? '', next ? 'more' : '', ...page.map(manifestTag))}"`
  return encodeManifests(
    contents,
    page,
    tag,
    next ? { Link: `<${servedPath('/v1/catalog')}?${next}>; rel="next"` } : {},
  )
}
