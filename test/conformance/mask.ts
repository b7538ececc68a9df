/** Kinds of texts that each run makes up anew. */
const kinds: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['JWT', /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g],
  ['UUID', /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi],
  ['HASH', /\b[0-9a-f]{64}\b/g],
  ['KEY', /\b[0-9A-F]{24}\b/g],
  ['MAC', /\b525400[0-9A-F]{6}\b/g],
  ['PAGE', /(?<=cursor=)[\w-]{20,}/g],
  ['CURSOR', /\b[0-9a-f]{8}-\d+(?![\w-])/g],
]

/** Members whose values are made up, or tell the time. */
const members =
  /"(kid|n|encoded|fragment|secret|ticket|date|expires_at|uptime|Uptime|start_time|queue_depth|cpu_total|max_memory|host|host_id|host_url)": ?("(?:[^"\\]|\\.)*"|[\d.]+)/g

/**
 * Members with numbers that depend on how long something took, on how well made-up texts are compressed, or on how many entries
 * were there before: those of a control begin with its host.
 */
const measures = /"(pack_size|value|total|seq|next)": ?\d+/g

/**
 * A step that was too short to measure has no rate, and a control sees only how far a step of a host has come each second. Whether a
 * process waits for the next fork depends on the time since the last one.
 */
const timed = /,"(?:rate": ?\d+|fork_ready": ?true)/g

const toMasked = (_: string, name: string): string => `"${name}":"MASKED"`

const time = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g

/** Lists in the order of ids, which each run makes up: they are compared in the order of creation. */
const listsById = /^\/v1\/(user\/configs|auth\/api_keys|catalog-managers)$/

/** Replies with lists of users in the order of ids: they are compared in the order of names. */
const holdersById = /^\/v1\/auth\/(claims|roles)\b/

const toKey = (item: unknown): string => {
  const members = new Map(Object.entries(typeof item === 'object' && item !== null ? item : {}))
  return ['created_at', 'name', 'username'].map(name => String(members.get(name))).join(' ')
}

const sortItems = (items: readonly unknown[]): readonly unknown[] =>
  items.toSorted((a, b) => (toKey(a) < toKey(b) ? -1 : 1))

const sortHolders = (name: string, value: unknown): unknown =>
  name === 'users' && Array.isArray(value) ? sortItems(value) : value

/** Gives the body in the form in which it is compared: without an order that is made up, and of metrics their names alone. */
export const toComparedBody = (path: string, body: string): string => {
  if (path === '/metrics')
    return body
      .split('\n')
      .filter(line => line.startsWith('# TYPE'))
      .sort()
      .join('\n')
  if (holdersById.test(path) && /^[[{]/.test(body)) return JSON.stringify(JSON.parse(body, sortHolders))
  return listsById.test(path) && body.startsWith('[') ? JSON.stringify(sortItems(JSON.parse(body))) : body
}

/**
 * Masks what differs between two runs. A text that a case has saved gets its name. Others get numbers as they first appear in
 * their case, so equal texts have equal masks, and a case that failed leaves the others alone. `known` has texts of this run, and
 * what stands for them.
 */
export const createMask = (known: Readonly<Record<string, string>>) => {
  const names = new Map<string, string>()
  const numbers = new Map<string, number>()
  const counts = new Map<string, number>()
  const toNumber = (kind: string, text: string): number =>
    numbers.getOrInsertComputed(`${kind} ${text}`, () => {
      const number = (counts.get(kind) ?? 0) + 1
      counts.set(kind, number)
      return number
    })
  const toMask = (kind: string, text: string): string => {
    const normal = text.toLowerCase()
    return names.get(normal) ?? `${kind}-${toNumber(kind, normal)}`
  }
  const maskText = (text: string): string =>
    kinds
      .reduce(
        (left, [kind, pattern]) => left.replace(pattern, found => toMask(kind, found)),
        Object.entries(known).reduce((left, [from, to]) => left.replaceAll(from, to), text),
      )
      .replace(time, 'TIME')
  return {
    /** Gives a saved text its name. */
    addName: (text: string, name: string): void => void names.set(text.toLowerCase(), `{${name}}`),
    beginCase(): void {
      numbers.clear()
      counts.clear()
    },
    text: (text: string): string =>
      maskText(text.replace(timed, '').replace(members, toMasked).replace(measures, toMasked)),
    /** Tags are opaque, so only which of them are equal is compared. */
    header: (name: string, value: string): string => (name === 'etag' ? toMask('ETAG', value) : maskText(value)),
  }
}
