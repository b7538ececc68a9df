import { tagOf } from './seal.ts'

/** The numbers of a log's oldest and newest entries. */
export interface LogBounds {
  readonly first: number
  readonly last: number
}

/**
 * What a sealed database holds as a whole. Each row proves itself by its tag; this proves, sealed in its turn and
 * written with every commit, that none is missing, old, or from a copy.
 */
export interface SealState {
  /** Notes the sealed row under a key; undefined when it was deleted. */
  setDocument(key: string, sealed: Uint8Array | undefined): void
  appendEntry(log: string, seq: number): void
  forgetEntries(log: string, upTo: number): void
  /** The version of the content. */
  setVersion(version: number): void
  /** The state as text; equal for equal content. */
  text(): string
}

interface Content {
  readonly version: number
  readonly rows: ReadonlyMap<string, Uint8Array>
  readonly logs: ReadonlyMap<string, LogBounds>
}

export const createSealState = (content: Content): SealState => {
  const tags = new Map<string, Uint8Array>()
  const logs = new Map(content.logs)
  // Tags look random, and each row has its own: the sum of all of them, bit by bit, stands for the set.
  const sum = new Uint8Array(16)
  let { version } = content

  const add = (tag: Uint8Array): void => {
    for (let at = 0; at < sum.length; at += 1) sum[at]! ^= tag[at]!
  }
  const setDocument = (key: string, sealed: Uint8Array | undefined): void => {
    const before = tags.get(key)
    if (before) add(before)
    if (sealed) {
      const tag = Uint8Array.from(tagOf(sealed))
      tags.set(key, tag)
      add(tag)
    } else tags.delete(key)
  }
  for (const [key, sealed] of content.rows) setDocument(key, sealed)

  return {
    setDocument,
    appendEntry: (log, seq) => void logs.set(log, { first: logs.get(log)?.first ?? seq, last: seq }),
    forgetEntries(log, upTo) {
      const bounds = logs.get(log)
      if (bounds && upTo >= bounds.first) logs.set(log, { ...bounds, first: upTo + 1 })
    },
    setVersion: next => void (version = next),
    text: () =>
      JSON.stringify({
        version,
        documents: tags.size,
        sum: Buffer.from(sum).toString('hex'),
        logs: Object.fromEntries([...logs].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      }),
  }
}
