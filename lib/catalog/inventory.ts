import type { Collection } from '#lib/storage/store.ts'
import type { StoredManifest } from './manifest-schema.ts'
import type { Kept } from './view.ts'

/** Where a manifest stands in the order of the list. */
export interface Position {
  readonly updated_at: string
  readonly id: string
}

/** The manifests of the store in the order in which they are listed: what was updated last comes first. */
export interface Inventory {
  all(): readonly Kept[]
  /** Those after a position, whether or not a manifest stands at it; to be read at once, before anything changes. */
  after(position: Position): Iterable<Kept>
  /** All versions and architectures of a catalog id, in the same order. */
  of(catalogId: string): readonly Kept[]
  get(id: string): Kept | undefined
  /** How many manifests a user has registered. */
  countOf(userId: string): number
  /** Takes in what the store has of a manifest now. */
  refresh(id: string): Promise<void>
}

// By code unit: the times are all of one form, and this is the comparison that every reader can make again.
const order = (a: Position, b: Position): number =>
  a.updated_at === b.updated_at ? (a.id < b.id ? -1 : a.id > b.id ? 1 : 0) : a.updated_at > b.updated_at ? -1 : 1

/** The place in a sorted list at which a position stands or would stand. */
const placeOf = (list: readonly Position[], position: Position): number => {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (order(list[middle]!, position) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Reads the manifests of a collection once; who changes one says so by `refresh`. */
export const openInventory = async (manifests: Collection<StoredManifest>): Promise<Inventory> => {
  const sorted: Kept[] = (await manifests.list()).toSorted(order)
  const byId = new Map(sorted.map(one => [one.id, one]))
  const byCatalog = new Map<string, Kept[]>()
  for (const one of sorted) byCatalog.set(one.catalog_id, [...(byCatalog.get(one.catalog_id) ?? []), one])

  const counts = new Map<string, number>()
  const count = (one: Kept | undefined, by: 1 | -1): void => {
    if (one?.owner_id === undefined) return
    const now = (counts.get(one.owner_id) ?? 0) + by
    if (now === 0) counts.delete(one.owner_id)
    else counts.set(one.owner_id, now)
  }
  for (const one of sorted) count(one, 1)

  const take = (list: Kept[], one: Kept): void => void list.splice(placeOf(list, one), 1)
  const put = (list: Kept[], one: Kept): void => void list.splice(placeOf(list, one), 0, one)

  return {
    all: () => sorted,
    *after(position) {
      const place = placeOf(sorted, position)
      // Not as a list of its own: a page needs few of those that are left.
      for (let at = sorted[place]?.id === position.id ? place + 1 : place; at < sorted.length; at += 1)
        yield sorted[at]!
    },
    of: catalogId => byCatalog.get(catalogId) ?? [],
    get: id => byId.get(id),
    countOf: userId => counts.get(userId) ?? 0,
    async refresh(id) {
      const after = await manifests.get(id)
      // Not before: somebody else may take it in meanwhile, and what stood at its place would be taken out.
      const before = byId.get(id)
      count(before, -1)
      count(after, 1)
      const siblings = byCatalog.get((before ?? after)?.catalog_id ?? '') ?? []
      for (const list of [sorted, siblings]) {
        if (before) take(list, before)
        if (after) put(list, after)
      }
      if (after) {
        byId.set(id, after)
        byCatalog.set(after.catalog_id, siblings)
      } else byId.delete(id)
      if (siblings.length === 0 && before) byCatalog.delete(before.catalog_id)
    },
  }
}
