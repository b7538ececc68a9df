import { createHmac, hash, hkdfSync } from 'node:crypto'
import { getAuthTag } from './seal.ts'
import type { Undo } from './table.ts'

/** The numbers of the oldest and the newest entry of a log. */
export interface LogBounds {
  readonly first: number
  readonly last: number
}

/** A sealed log: its bounds, and the chain hash after its newest entry. */
export interface SealedLog extends LogBounds {
  readonly link: string
}

/**
 * A digest of the whole sealed database. The tag of a row authenticates that row; this state, which is sealed and written
 * with every commit, shows that no row is missing, outdated or from another copy.
 */
export interface SealState {
  /** Records the sealed row under a key; undefined when it was deleted. */
  setDocument(key: string, sealed: Uint8Array | undefined): void
  appendEntry(log: string, seq: number, sealed: Uint8Array): SealedLog
  /** Gives the log after that; undefined when it has no entries. */
  forgetEntries(log: string, upTo: number): SealedLog | undefined
  /** Records the version of the data. */
  setVersion(version: number): void
  countCommit(): void
  /** The number of commits so far. */
  commits(): number
  /** The state as text; equal for equal content. */
  text(): string
  /** Call it when the changes since the last call are on disk: they can no longer be undone. */
  confirm(): void
  /** Undoes the changes since the last `confirm`. */
  undo(): void
}

interface Content {
  readonly version: number
  readonly commits: number
  readonly rows: ReadonlyMap<string, Uint8Array>
  readonly logs: ReadonlyMap<string, SealedLog>
}

/** Computes the MAC of a row from its key and its tag. */
export type RowMac = (key: string, tag: Uint8Array) => Uint8Array

/** Makes the function that computes row MACs. Without the data key nobody can find other rows with the same set hash. */
export const createRowMac = (dataKey: Uint8Array): RowMac => {
  const key = Buffer.from(hkdfSync('sha256', dataKey, '', 'vmhost store state', 32))
  return (row, tag) => createHmac('sha256', key).update(row).update('\0').update(tag).digest()
}

/** The chain hash before the first entry of a log. */
export const firstLink = ''

/** The chain hash after an entry, from the one before it and the entry's tag. Any changed, moved or missing entry changes it. */
export const computeNextLink = (before: string, sealed: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from(before, 'base64'), getAuthTag(sealed)]), 'base64')

export const createSealState = (content: Content, rowMac: RowMac): SealState => {
  const macs = new Map<string, Uint8Array>()
  const logs = new Map(content.logs)
  // A set hash: the XOR of the MACs of all rows. It does not depend on their order, and one row is added or removed at the same cost.
  const setHash = new Uint8Array(32)
  let { version, commits } = content
  let undos: Undo[] = []

  const toggle = (mac: Uint8Array): void => {
    for (const [at, byte] of mac.entries()) setHash[at] = (setHash[at] ?? 0) ^ byte
  }
  const setMac = (key: string, mac: Uint8Array | undefined): void => {
    const before = macs.get(key)
    if (before) toggle(before)
    if (mac) {
      macs.set(key, mac)
      toggle(mac)
    } else macs.delete(key)
    undos.push(() => setMac(key, before))
  }
  const setLog = (log: string, next: SealedLog): SealedLog => {
    const before = logs.get(log)
    logs.set(log, next)
    undos.push(() => void (before ? logs.set(log, before) : logs.delete(log)))
    return next
  }
  const setDocument = (key: string, sealed: Uint8Array | undefined): void =>
    setMac(key, sealed && rowMac(key, getAuthTag(sealed)))
  for (const [key, sealed] of content.rows) setDocument(key, sealed)
  undos = []

  return {
    setDocument,
    appendEntry(log, seq, sealed) {
      const { first = seq, link = firstLink } = logs.get(log) ?? {}
      return setLog(log, { first, last: seq, link: computeNextLink(link, sealed) })
    },
    forgetEntries(log, upTo) {
      const known = logs.get(log)
      return known && upTo >= known.first ? setLog(log, { ...known, first: upTo + 1 }) : known
    },
    setVersion(next) {
      const before = version
      version = next
      undos.push(() => void (version = before))
    },
    countCommit() {
      commits += 1
      undos.push(() => void (commits -= 1))
    },
    commits: () => commits,
    text: () =>
      JSON.stringify({
        version,
        documents: macs.size,
        sum: Buffer.from(setHash).toString('hex'),
        logs: Object.fromEntries([...logs].toSorted(([a], [b]) => (a < b ? -1 : 1))),
        commits,
      }),
    confirm: () => void (undos = []),
    undo() {
      for (const step of undos.splice(0).toReversed()) step()
      undos = []
    },
  }
}
