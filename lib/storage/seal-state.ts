import { createHmac, hkdfSync } from 'node:crypto'
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

/** Says of a row, by a key that only this store has, what its tag adds to the sum. */
export type RowMark = (key: string, tag: Uint8Array) => Uint8Array

/** The marks of a store's rows: without the data key nobody can tell which rows would add up to the same. */
export const rowMarks = (dataKey: Uint8Array): RowMark => {
  const key = Buffer.from(hkdfSync('sha256', dataKey, '', 'vmhost store state', 32))
  return (row, tag) => createHmac('sha256', key).update(row).update('\0').update(tag).digest()
}

export const createSealState = (content: Content, markOf: RowMark): SealState => {
  const marks = new Map<string, Uint8Array>()
  const logs = new Map(content.logs)
  // The sum of all marks, bit by bit, stands for the set of rows.
  const sum = new Uint8Array(32)
  let { version } = content

  const add = (mark: Uint8Array): void => {
    for (let at = 0; at < sum.length; at += 1) sum[at]! ^= mark[at]!
  }
  const setDocument = (key: string, sealed: Uint8Array | undefined): void => {
    const before = marks.get(key)
    if (before) add(before)
    if (sealed) {
      const mark = markOf(key, tagOf(sealed))
      marks.set(key, mark)
      add(mark)
    } else marks.delete(key)
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
        documents: marks.size,
        sum: Buffer.from(sum).toString('hex'),
        logs: Object.fromEntries([...logs].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      }),
  }
}
