import { toServedPath } from '#lib/calls/paths.ts'
import { parseSelector } from './labels.ts'
import type { SelectionQuery } from './selection-query.ts'

/** What a selection needs to know of an item of a list. */
export interface ListedItem {
  readonly name: string
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** The items of one page, and the query of the next one. */
interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: URLSearchParams | undefined
}

type SortKey = readonly [name: string, id: string]

const compareKeys = ([nameA, idA]: SortKey, [nameB, idB]: SortKey): number =>
  nameA.localeCompare(nameB) || (idA < idB ? -1 : idA > idB ? 1 : 0)

/** Compares two items in the order of a list: by name, then by id. */
export const compareItems = (a: Pick<ListedItem, 'name' | 'id'>, b: Pick<ListedItem, 'name' | 'id'>): number =>
  compareKeys([a.name, a.id], [b.name, b.id])

/** A cursor is `NAME/ID`: a name contains no slash. A name alone leads behind all items of that name. */
const readCursor = (text: string): SortKey => {
  const at = text.lastIndexOf('/')
  return at < 0 ? [text, '\u{10FFFF}'] : [text.slice(0, at), text.slice(at + 1)]
}

/** Returns the page of a list that a request asks for. `list` is in the order of `compareItems`. Throws `invalid`. */
export const selectPage = <Item extends ListedItem>(list: readonly Item[], query: SelectionQuery): Page<Item> => {
  const matches = query.labels === undefined ? () => true : parseSelector(query.labels)
  const after = query.after === undefined ? undefined : readCursor(query.after)
  const found = list.filter(
    ({ name, id, labels }) => (after === undefined || compareKeys([name, id], after) > 0) && matches(labels),
  )
  const items = found.slice(0, query.limit)
  const last = items.at(-1)
  if (found.length === items.length || !last) return { items, next: undefined }
  const next = new URLSearchParams(
    Object.entries<string | number | undefined>(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  )
  next.set('after', `${last.name}/${last.id}`)
  return { items, next }
}

/** The `Link` header that leads to the next page of the list at a path. */
export const formatNextLink = (
  path: `/${string}`,
  next: URLSearchParams | undefined,
): Readonly<Record<string, string>> => (next ? { Link: `<${toServedPath(path)}?${next}>; rel="next"` } : {})
