import { DatabaseSync } from 'node:sqlite'
import { plainCodecV1, type Codec, formatEntryAssociatedData } from './codec.ts'
import type { RawContent } from './database-file.ts'
import { parseRawDocument } from './documents.ts'
import { type NamedEntryRow, prepareQuery } from './query.ts'
import { createSealState, createRowMac } from './seal-state.ts'

/** The first version in which plain rows have a checksum, and sealed logs are linked and have checkpoints. */
export const linkedVersion = 2

/** Whether a version is older than `linkedVersion`. Throws for a version below 1. */
export const isFirstVersion = (version: number): boolean => {
  if (version < 1) throw new Error(`there is no version ${version}`)
  return version < linkedVersion
}

/** Verifies every entry of every log. The first version has no checkpoints to start from. */
const verifyLogs = (file: string, { logs }: RawContent, codec: Codec): void => {
  if (logs.size === 0) return
  using database = new DatabaseSync(file, { readOnly: true })
  const counts = new Map<string, number>()
  const entries = prepareQuery<NamedEntryRow>(database, 'SELECT name, seq, value FROM log')
  for (const { name, seq, value } of entries.iterate()) {
    const text = codec.decode(formatEntryAssociatedData(name, seq), value)
    // A plain entry has no checksum, so this is the only check.
    if (!text.startsWith('{')) throw new Error(`${formatEntryAssociatedData(name, seq)} is damaged`)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const [name, { first, last }] of logs)
    if (counts.get(name) !== last - first + 1) throw new Error(`entries of ${name} are missing`)
}

/** Verifies a plain database of the first version, as far as that is possible without checksums. Throws when it is damaged. */
export const verifyFirstPlain = (file: string, raw: RawContent, rows: ReadonlyMap<string, string>): void => {
  for (const [key, text] of rows) parseRawDocument(key, text)
  verifyLogs(file, raw, plainCodecV1)
}

/** Verifies a sealed database of the first version. Throws when it is not as the last commit left it. */
export const verifyFirstSealed = (file: string, raw: RawContent, codec: Codec, dataKey: Uint8Array): void => {
  verifyLogs(file, raw, codec)
  const content = { version: raw.version, commits: 0, rows: raw.rows, logs: new Map() }
  // What `text` of a seal state writes.
  const { version, documents, sum } = JSON.parse(createSealState(content, createRowMac(dataKey)).text()) as object & {
    version: unknown
    documents: unknown
    sum: unknown
  }
  const logs = Object.fromEntries([...raw.logs].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  if (!raw.state || codec.decode('state', raw.state) !== JSON.stringify({ version, documents, sum, logs }))
    throw new Error('it is not as the last commit left it: something is missing or comes from an older copy')
}
