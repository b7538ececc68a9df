import { ServiceError } from '#lib/errors.ts'

/** Pages of one listing; with 1,000 objects each these are a hundred million objects. */
const maxPages = 100_000
/** Empty pages in a row: storages send such pages where many objects were deleted. */
const maxEmptyPages = 1_000

/** A page of a listing. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The token of the next page; undefined for the last page. */
  readonly next: string | undefined
}

/** The error for a listing that does not end. */
export const createEndlessListingError = (host: string): ServiceError =>
  new ServiceError('upstream', `The storage ${host} lists its objects without end.`)

/**
 * Reads a listing page by page. Throws `upstream` for a listing that does not end: when a token or the last item of a page
 * comes twice, or when there are too many pages.
 * @param read reads the page of a token; undefined stands for the first page
 * @param getKey gives the key that identifies an item
 */
export async function* readPages<T>(
  host: string,
  read: (token: string | undefined) => Promise<Page<T>>,
  getKey: (item: T) => string,
): AsyncGenerator<readonly T[]> {
  const tokens = new Set<string>()
  const lastKeys = new Set<string>()
  let emptyPages = 0
  for (let token: string | undefined; ;) {
    const { items, next } = await read(token)
    const last = items.at(-1)
    emptyPages = last === undefined ? emptyPages + 1 : 0
    if (last !== undefined) {
      if (lastKeys.has(getKey(last))) throw createEndlessListingError(host)
      lastKeys.add(getKey(last))
    }
    yield items
    if (next === undefined) return
    if (tokens.has(next) || tokens.size >= maxPages || emptyPages > maxEmptyPages) throw createEndlessListingError(host)
    tokens.add(next)
    token = next
  }
}
