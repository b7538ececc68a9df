import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import {
  formatCheckpointAssociatedData,
  type Codec,
  formatDocumentAssociatedData,
  formatEntryAssociatedData,
  plainCodec,
} from './codec.ts'
import { readLogBounds, stateRow } from './database-file.ts'
import { isLogRow, type LogRow, type DocumentRow, type Row } from './rows.ts'
import type { LogReader } from './log.ts'
import { type EntryRow, prepareQuery } from './query.ts'
import { checkpointInterval, verifyEntries, type VerifiedEntry } from './verify-entries.ts'
import { sealCodec } from './seal.ts'
import type { LogBounds, SealState } from './seal-state.ts'
import { isFull } from './sqlite-errors.ts'
import type { WrappedKey } from './wrapped-key.ts'

/** A connection to a database. */
export interface Database {
  get(key: string): string | undefined
  keys(): readonly string[]
  readonly logs: LogReader
  /** Verifies up to `limit` entries of a log after `after`, and gives the last of them. Throws when they are damaged. */
  verify(log: string, after: VerifiedEntry, limit: number): VerifiedEntry
  write(rows: readonly Row[]): void
  /** Writes the version of the rows' content. */
  setVersion(version: number): void
  /** Replaces the wrapped data keys of a sealed database. */
  setWrappedKeys(wrappedKeys: readonly WrappedKey[]): void
  /** Moves the write-ahead log into the file, as far as the disk has room. */
  checkpointWal(): void
  /**
   * Moves the whole write-ahead log into the file and writes a first page into the log. That removes what a failed commit
   * left at the end of the log, and puts cached writes on disk. Throws when the disk fails.
   */
  resetWal(version: number): void
  /** Runs `work` in a transaction: all or nothing, durable on return. Throws SQLite's errors. */
  transaction(work: () => void): void
  /** Call it before closing. It stores the bounds of plain logs, so that the next start notices lost entries. */
  storeLogBounds(): void
  /** Whether a failed transaction could not be rolled back either. */
  isInTransaction(): boolean
  close(): void
}

const logReader = (database: DatabaseSync, codec: Codec): LogReader => {
  const bounds = prepareQuery<{ first: number | null; last: number | null }>(
    database,
    'SELECT min(seq) AS first, max(seq) AS last FROM log WHERE name = ?',
  )
  const range = 'SELECT seq, value FROM log WHERE name = ? AND seq BETWEEN ? AND ? ORDER BY seq'
  const oldest = prepareQuery<EntryRow>(database, `${range} LIMIT ?`)
  const newest = prepareQuery<EntryRow>(database, `${range} DESC LIMIT ?`)
  return {
    bounds(log) {
      const { first = null, last = null } = bounds.get(log) ?? {}
      return first === null || last === null ? undefined : { first, last }
    },
    read(log, { from, to, limit, newestFirst }) {
      const rows = (newestFirst ? newest : oldest).all(log, from, to, limit)
      return rows.map(({ seq, value }) => ({
        seq,
        value: codec.decode(formatEntryAssociatedData(log, seq), value),
      }))
    },
  }
}

/** What a process needs to read the logs of a store that another process writes. The data key is a secret. */
export interface LogAccess {
  readonly file: string
  /** Of a sealed store. */
  readonly dataKey: Uint8Array | undefined
}

/** Reads the logs of a store while another process writes to it. */
export const openLogReader = ({ file, dataKey }: LogAccess): LogReader & Disposable => {
  const database = new DatabaseSync(file, { readOnly: true })
  const reader = logReader(database, dataKey ? sealCodec(dataKey) : plainCodec)
  return { ...reader, [Symbol.dispose]: () => database.close() }
}

// SQLite checkpoints the write-ahead log at a thousand pages. The log's file keeps that size.
const maxWalSize = 4 << 20

interface Options {
  readonly codec: Codec
  /** The state of a sealed database. Every commit writes it. */
  readonly state: SealState | undefined
}

/** Opens the database in `file` for writing. */
export const openDatabase = (file: string, { codec, state }: Options): Database => {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON')
  // Deleted rows may hold secrets (a key, the request of an ended job), so SQLite overwrites them with zeros.
  database.exec('PRAGMA secure_delete = ON')
  const put = database.prepare('INSERT INTO kv VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const remove = database.prepare('DELETE FROM kv WHERE key = ?')
  const append = database.prepare('INSERT INTO log VALUES (?, ?, ?)')
  const deleteEntries = database.prepare('DELETE FROM log WHERE name = ? AND seq <= ?')
  const putCheckpoint = database.prepare('INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)')
  const deleteCheckpoints = database.prepare('DELETE FROM checkpoint WHERE name = ? AND seq < ?')
  const putSeal = database.prepare('INSERT INTO seal VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const select = prepareQuery<{ value: Uint8Array }>(database, 'SELECT value FROM kv WHERE key = ?')
  const selectKeys = prepareQuery<{ key: string }>(database, 'SELECT key FROM kv')

  const reader = logReader(database, codec)
  const storeCheckpoint = (log: string, last: number, text: string): void =>
    void putCheckpoint.run(log, last, codec.encode(formatCheckpointAssociatedData(log, last), text))
  /** A plain log has one checkpoint, which holds its last and its first entry number. */
  const storeLogBounds = (log: string): void => {
    const bounds = reader.bounds(log)
    if (!bounds) return
    storeCheckpoint(log, bounds.last, String(bounds.first))
    deleteCheckpoints.run(log, bounds.last)
  }
  const storeAllLogBounds = (): void => {
    if (state || !database.isOpen) return
    const newestCheckpoint = prepareQuery<{ seq: number | null }>(
      database,
      'SELECT max(seq) AS seq FROM checkpoint WHERE name = ?',
    )
    const isStored = ([log, { last }]: readonly [string, LogBounds]): boolean => newestCheckpoint.get(log)?.seq === last
    const changed = [...readLogBounds(database)].filter(bounds => !isStored(bounds))
    if (changed.length === 0) return
    try {
      database.exec('BEGIN IMMEDIATE')
      for (const [log] of changed) storeLogBounds(log)
      database.exec('COMMIT')
    } catch {
      // On a full disk the older bounds stay; they verify fewer entries.
      if (database.isTransaction) database.exec('ROLLBACK')
    }
  }
  const writeDocument = ({ key, value }: DocumentRow): void => {
    const bytes = value === undefined ? undefined : codec.encode(formatDocumentAssociatedData(key), value)
    if (bytes) put.run(key, bytes)
    else remove.run(key)
    state?.setDocument(key, bytes)
  }
  const forgetEntries = (log: string, upTo: number): void => {
    deleteEntries.run(log, upTo)
    if (!state) return storeLogBounds(log)
    const remaining = state.forgetEntries(log, upTo)
    deleteCheckpoints.run(log, upTo)
    // The newest entries are always verified from a checkpoint, so one must stay.
    if (remaining) storeCheckpoint(log, remaining.last, remaining.link)
  }
  const writeEntry = ({ log, seq, value }: LogRow): void => {
    if (value === undefined) return forgetEntries(log, seq)
    const bytes = codec.encode(formatEntryAssociatedData(log, seq), value)
    append.run(log, seq, bytes)
    const sealedLog = state?.appendEntry(log, seq, bytes)
    if (seq % checkpointInterval !== 0) return
    if (sealedLog) storeCheckpoint(log, seq, sealedLog.link)
    else storeLogBounds(log)
  }
  return {
    logs: reader,
    verify: (log, after, limit) => verifyEntries(database, codec, log, { after, limit, isSealed: state !== undefined }),
    get(key) {
      const row = select.get(key)
      return row && codec.decode(formatDocumentAssociatedData(key), row.value)
    },
    keys: () => selectKeys.all().map(({ key }) => key),
    write(rows) {
      for (const row of rows)
        if (isLogRow(row)) writeEntry(row)
        else writeDocument(row)
      state?.countCommit()
      if (state) putSeal.run(stateRow, codec.encode('state', state.text()))
    },
    setVersion(version) {
      state?.setVersion(version)
      database.exec(`PRAGMA user_version = ${version}`)
    },
    setWrappedKeys(wrappedKeys) {
      database.exec(`DELETE FROM seal WHERE id <> ${stateRow}`)
      for (const [at, wrappedKey] of wrappedKeys.entries())
        putSeal.run(stateRow + 1 + at, Buffer.from(JSON.stringify(wrappedKey)))
    },
    checkpointWal() {
      try {
        // A large commit that found no room leaves a large log. Its space is given back.
        const isLarge = statSync(`${file}-wal`).size > 2 * maxWalSize
        database.exec(`PRAGMA wal_checkpoint(${isLarge ? 'TRUNCATE' : 'PASSIVE'})`)
      } catch (error) {
        if (!isFull(error)) throw error
      }
    },
    resetWal(version) {
      database.exec(`PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version = ${version}`)
    },
    transaction(work) {
      try {
        database.exec('BEGIN IMMEDIATE')
        work()
        database.exec('COMMIT')
        state?.confirm()
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
    storeLogBounds: storeAllLogBounds,
    isInTransaction: () => database.isTransaction,
    close() {
      if (database.isOpen) database.close()
    },
  }
}
