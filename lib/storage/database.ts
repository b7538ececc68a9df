import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '#lib/errors.ts'
import { type Codec, documentPlace, entryPlace, plainCodec } from './codec.ts'
import { schema, stateRow } from './database-file.ts'
import { isLogRow, type LogRow, type Row } from './keys.ts'
import type { LogReader } from './log.ts'
import { sealCodec } from './seal.ts'
import type { SealState } from './seal-state.ts'
import type { Wrap } from './wrap.ts'

/** A database that is open for writing. */
export interface Database {
  get(key: string): string | undefined
  keys(): readonly string[]
  readonly logs: LogReader
  /** Writes all rows or none; durable on return. Throws `no-space` when the disk is full. */
  commit(rows: readonly (Row | LogRow)[]): void
  /** Writes all rows, or none, together with the version of what they hold. */
  setVersion(rows: readonly Row[], version: number): void
  /** Replaces what opens a sealed database. */
  setWraps(wraps: readonly Wrap[]): void
  close(): void
}

const full = 13

const logReader = (database: DatabaseSync, codec: Codec): LogReader => {
  const bounds = database.prepare('SELECT min(seq) AS first, max(seq) AS last FROM log WHERE name = ?')
  const range = 'SELECT seq, value FROM log WHERE name = ? AND seq BETWEEN ? AND ? ORDER BY seq'
  const oldest = database.prepare(`${range} LIMIT ?`)
  const newest = database.prepare(`${range} DESC LIMIT ?`)
  return {
    bounds(log) {
      const { first, last } = bounds.get(log) as { first: number | null; last: number | null }
      return first === null || last === null ? undefined : { first, last }
    },
    read(log, { from, to, limit, newestFirst }) {
      const rows = (newestFirst ? newest : oldest).all(log, from, to, limit)
      return (rows as { seq: number; value: Uint8Array }[]).map(({ seq, value }) => ({
        seq,
        value: codec.decode(entryPlace(log, seq), value),
      }))
    },
  }
}

/** What a process needs to read the logs of a store that another one writes. The key must be kept as a secret. */
export interface Reading {
  readonly file: string
  /** Of a sealed store. */
  readonly dataKey: Uint8Array | undefined
}

/** Reads the logs of a store while another process writes to it. */
export const openLogReader = ({ file, dataKey }: Reading): LogReader & Disposable => {
  const database = new DatabaseSync(file, { readOnly: true })
  const reader = logReader(database, dataKey ? sealCodec(dataKey) : plainCodec)
  return { ...reader, [Symbol.dispose]: () => database.close() }
}

interface Options {
  readonly codec: Codec
  /** Of a sealed database; kept with every commit. */
  readonly state: SealState | undefined
}

/** Opens the database in `file` for writing. */
export const openDatabase = (file: string, { codec, state }: Options): Database => {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; ${schema}`)
  const transaction = (work: () => void): void => {
    try {
      database.exec('BEGIN IMMEDIATE')
      work()
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      if ((error as { errcode?: number }).errcode === full)
        throw new ServiceError('no-space', 'The disk that the store is on is full. Nothing was changed.', {
          cause: error,
        })
      throw new ServiceError('unavailable', 'The store could not be written. Nothing was changed.', { cause: error })
    }
  }
  const put = database.prepare('INSERT INTO kv VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const remove = database.prepare('DELETE FROM kv WHERE key = ?')
  const append = database.prepare('INSERT INTO log VALUES (?, ?, ?)')
  const forget = database.prepare('DELETE FROM log WHERE name = ? AND seq <= ?')
  const putSeal = database.prepare('INSERT INTO seal VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const writeDocument = ({ key, value }: Row): void => {
    const bytes = value === undefined ? undefined : codec.encode(documentPlace(key), value)
    if (bytes) put.run(key, bytes)
    else remove.run(key)
    state?.setDocument(key, bytes)
  }
  const writeEntry = ({ log, seq, value }: LogRow): void => {
    if (value === undefined) {
      forget.run(log, seq)
      state?.forgetEntries(log, seq)
    } else {
      append.run(log, seq, codec.encode(entryPlace(log, seq), value))
      state?.appendEntry(log, seq)
    }
  }
  const writeState = (): void => {
    if (state) putSeal.run(stateRow, codec.encode('state', state.text()))
  }
  const write = (rows: readonly (Row | LogRow)[]): void => {
    for (const row of rows)
      if (isLogRow(row)) writeEntry(row)
      else writeDocument(row)
    writeState()
  }
  const select = database.prepare('SELECT value FROM kv WHERE key = ?')
  const selectKeys = database.prepare('SELECT key FROM kv')
  return {
    logs: logReader(database, codec),
    get(key) {
      const row = select.get(key) as { value: Uint8Array } | undefined
      return row && codec.decode(documentPlace(key), row.value)
    },
    keys: () => (selectKeys.all() as { key: string }[]).map(({ key }) => key),
    commit: rows => transaction(() => write(rows)),
    setVersion: (rows, next) =>
      transaction(() => {
        state?.setVersion(next)
        write(rows)
        database.exec(`PRAGMA user_version = ${next}`)
      }),
    setWraps: wraps =>
      transaction(() => {
        database.exec(`DELETE FROM seal WHERE id <> ${stateRow}`)
        for (const [at, wrap] of wraps.entries()) putSeal.run(stateRow + 1 + at, Buffer.from(JSON.stringify(wrap)))
      }),
    close: () => database.close(),
  }
}
