/** Kinds of texts that each run makes up anew. The first group of a pattern is what stays beside the mask. */
const kinds: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['JWT', /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g],
  ['UUID', /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi],
  ['HASH', /\b[0-9a-f]{64}\b/g],
  ['KEY', /\b[0-9A-F]{24}\b/g],
  ['MAC', /\b525400[0-9A-F]{6}\b/g],
  ['LOG', /\b[0-9a-f]{8}(?=-\d+(?![\w-]))/g],
]

/** Members whose values are made up, or tell the time. */
const members =
  /"(kid|n|encoded|secret|expires_at|uptime|Uptime|start_time|queue_depth|cpu_total|max_memory|next_cursor)": ?("(?:[^"\\]|\\.)*"|[\d.]+)/g

const time = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g

/**
 * Masks what differs between two runs. Equal texts get equal masks, numbered as they first appear, so a reply that names
 * another id than it should is not equal. `known` has texts of this run, and what stands for them.
 */
export const createMask = (known: Readonly<Record<string, string>>) => {
  const numbers = new Map<string, number>()
  const counts = new Map<string, number>()
  const toNumber = (kind: string, text: string): number =>
    numbers.getOrInsertComputed(`${kind} ${text.toLowerCase()}`, () => {
      const number = (counts.get(kind) ?? 0) + 1
      counts.set(kind, number)
      return number
    })
  const maskText = (text: string): string =>
    kinds
      .reduce(
        (left, [kind, pattern]) => left.replace(pattern, found => `${kind}-${toNumber(kind, found)}`),
        Object.entries(known).reduce((left, [from, to]) => left.replaceAll(from, to), text),
      )
      .replace(time, 'TIME')
  return {
    text: (text: string): string => maskText(text.replace(members, (_, name: string) => `"${name}":"MASKED"`)),
    /** Tags are opaque, so only which of them are equal is compared. */
    header: (name: string, value: string): string =>
      name === 'etag' ? `ETAG-${toNumber('ETAG', value)}` : maskText(value),
  }
}

export type Mask = ReturnType<typeof createMask>
