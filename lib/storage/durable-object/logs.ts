import { formatEntryAssociatedData, plainCodec } from '../codec.ts'
import type { DurableObjectSql } from './sql.ts'
import type { LogReader } from '../log.ts'
import { cutIntoPieces, joinPieces, type Piece } from './pieces.ts'
import type { LogRow } from '../rows.ts'

/** The number of entries after which the bounds of a log are stored. They show later that none is missing at its ends. */
const boundsInterval = 1_000

interface Bounds {
  readonly first: number
  readonly last: number
}

/** The logs of a store in the database of a Durable Object. Entries carry a checksum. */
export interface DurableObjectLogs extends LogReader {
  write(row: LogRow): void
}

/** Opens the tables of the logs, and creates them the first time. Reading throws when entries are damaged or missing. */
export const openDurableObjectLogs = ({ run, prepare }: DurableObjectSql): DurableObjectLogs => {
  run(
    'CREATE TABLE IF NOT EXISTS entries (log TEXT, seq INTEGER, piece INTEGER, value BLOB NOT NULL, PRIMARY KEY (log, seq, piece)) WITHOUT ROWID',
  )
  run(
    'CREATE TABLE IF NOT EXISTS bounds (log TEXT PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID',
  )

  // One search for each end: both in one query would read the whole log.
  const selectOldest = prepare<{ seq: number }>('SELECT seq FROM entries WHERE log = ? ORDER BY seq LIMIT 1')
  const selectNewest = prepare<{ seq: number }>('SELECT seq FROM entries WHERE log = ? ORDER BY seq DESC LIMIT 1')
  const selectBounds = prepare<Bounds>('SELECT first, last FROM bounds WHERE log = ?')
  const selectRange = prepare<Piece<number>>(
    'SELECT seq AS id, value FROM entries WHERE log = ? AND seq BETWEEN ? AND ? ORDER BY seq, piece',
  )

  const findBounds = (log: string): Bounds | undefined => {
    const [oldest] = selectOldest(log)
    const [newest] = selectNewest(log)
    return oldest && newest && { first: oldest.seq, last: newest.seq }
  }
  const storeBounds = (log: string): void => {
    const bounds = findBounds(log)
    if (bounds) run('INSERT OR REPLACE INTO bounds VALUES (?, ?, ?)', log, bounds.first, bounds.last)
  }
  return {
    bounds(log) {
      const found = findBounds(log)
      const [stored = { first: 1, last: 0 }] = selectBounds(log)
      const isWhole = found ? found.first === stored.first && found.last >= stored.last : stored.last === 0
      if (!isWhole) throw new Error(`entries of ${log} are missing`)
      return found
    },
    read(log, { from, to, limit, newestFirst }) {
      const bounds = findBounds(log)
      if (!bounds) return []
      // Entries have no gaps, so their numbers say which they are.
      let [low, high] = [Math.max(from, bounds.first), Math.min(to, bounds.last)]
      if (newestFirst) low = Math.max(low, high - limit + 1)
      else high = Math.min(high, low + limit - 1)
      if (low > high) return []
      const found = joinPieces(selectRange(log, low, high))
      const entries = Array.from({ length: high - low + 1 }, (_, at) => {
        const seq = low + at
        const bytes = found.get(seq)
        if (!bytes) throw new Error(`entry ${seq} of ${log} is missing`)
        return { seq, value: plainCodec.decode(formatEntryAssociatedData(log, seq), bytes) }
      })
      return newestFirst ? entries.toReversed() : entries
    },
    write({ log, seq, value }) {
      if (value === undefined) {
        run('DELETE FROM entries WHERE log = ? AND seq <= ?', log, seq)
        return storeBounds(log)
      }
      const pieces = cutIntoPieces(plainCodec.encode(formatEntryAssociatedData(log, seq), value))
      for (const [at, piece] of pieces.entries()) run('INSERT INTO entries VALUES (?, ?, ?, ?)', log, seq, at, piece)
      if (seq % boundsInterval === 0) storeBounds(log)
    },
  }
}
