import type { DatabaseSync } from 'node:sqlite'
import { formatCheckpointAssociatedData, type Codec, formatEntryAssociatedData } from './codec.ts'
import { type EntryRow, prepareQuery } from './query.ts'
import { firstLink, computeNextLink, type LogBounds } from './seal-state.ts'

/** The last verified entry of a log. `link` is the chain hash after it; undefined for plain logs and when it is unknown. */
export interface VerifiedEntry {
  readonly seq: number
  readonly link: string | undefined
}

/** Entries between two checkpoints of a sealed log. A checkpoint stores the chain hash after its entry. A plain log has one checkpoint. */
export const checkpointInterval = 1_000

const unseal = (codec: Codec, log: string, { seq, value }: EntryRow): VerifiedEntry => ({
  seq,
  link: codec.decode(formatCheckpointAssociatedData(log, seq), value),
})

/** Reads the newest checkpoint of a log, or gives the log's beginning. Throws when the checkpoint is damaged. */
export const readLastCheckpoint = (database: DatabaseSync, codec: Codec, log: string): VerifiedEntry => {
  const newest = 'SELECT seq, value FROM checkpoint WHERE name = ? ORDER BY seq DESC LIMIT 1'
  const row = prepareQuery<EntryRow>(database, newest).get(log)
  return row ? unseal(codec, log, row) : { seq: 0, link: firstLink }
}

/**
 * Verifies that no entries are missing at the beginning or the end of a plain log. Its checkpoint stores its first entry
 * number and the least last one. Throws when entries are missing.
 */
export const verifyLogBounds = (
  database: DatabaseSync,
  codec: Codec,
  log: string,
  { first, last }: LogBounds,
): void => {
  const { seq, link } = readLastCheckpoint(database, codec, log)
  if (last < seq || first !== Number(link || 1)) throw new Error(`entries of ${log} are missing`)
}

/**
 * Verifies up to `limit` entries after `after`: that each is undamaged, that none is missing, and in a sealed log that the
 * chain hashes match the checkpoints. Gives the last verified entry. Throws when the check fails.
 */
export const verifyEntries = (
  database: DatabaseSync,
  codec: Codec,
  log: string,
  { after, limit, isSealed }: { readonly after: VerifiedEntry; readonly limit: number; readonly isSealed: boolean },
): VerifiedEntry => {
  const rows = prepareQuery<EntryRow>(
    database,
    'SELECT seq, value FROM log WHERE name = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  const checkpoint = prepareQuery<EntryRow>(database, 'SELECT seq, value FROM checkpoint WHERE name = ? AND seq = ?')
  let verified = after
  for (const { seq, value } of rows.iterate(log, after.seq, limit)) {
    if (seq !== verified.seq + 1) throw new Error(`entry ${verified.seq + 1} of ${log} is missing`)
    codec.decode(formatEntryAssociatedData(log, seq), value)
    const link = isSealed && verified.link !== undefined ? computeNextLink(verified.link, value) : undefined
    const stored = isSealed && seq % checkpointInterval === 0 ? checkpoint.get(log, seq) : undefined
    verified = stored ? unseal(codec, log, stored) : { seq, link }
    if (link !== undefined && verified.link !== link) throw new Error(`entry ${seq} of ${log} is not of this copy`)
  }
  return verified
}
