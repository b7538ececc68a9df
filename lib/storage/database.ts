import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { isLogRow, type LogRow, type Row } from './keys.ts'
import type { LogReader } from './log.ts'

/** Marks a database file as ours: `vmhs`. */
const applicationId = 0x766d6873

/** The rows of a database and the version of what they hold. */
export interface Content {
  readonly version: number
  readonly rows: ReadonlyMap<string, string>
}

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

const utf8 = new TextDecoder('utf-8', { fatal: true })

const sync = (path: string): void => {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** Makes a finished file durable, readable by its owner alone, and shows it under its name. */
const giveName = (unfinished: string, file: string): void => {
  chmodSync(unfinished, 0o600)
  sync(unfinished)
  renameSync(unfinished, file)
  sync(dirname(file))
}

/**
 * Makes an empty database of this version of content. It gets its name when it is whole, so that whatever else
 * is found under that name later is damage. Throws `unavailable` where the log of another database is left.
 */
export const createDatabase = (file: string, version: number): void => {
  // SQLite would play the log of a database that was taken away into the new one.
  if (existsSync(`${file}-wal`))
    throw new ServiceError(
      'unavailable',
      `${file} is missing, but its log ${file}-wal is there. Nothing was changed; put ${file} back, or remove the log too.`,
    )
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  const database = new DatabaseSync(unfinished)
  database.exec(
    `PRAGMA synchronous = FULL; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};
     CREATE TABLE kv (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID`,
  )
  database.close()
  giveName(unfinished, file)
}

/** Reads a database without changing a byte of it. Throws `unavailable` for a file that is damaged, or is not ours. */
export const readDatabase = (file: string): Content => {
  let database: DatabaseSync | undefined
  try {
    // A writable connection would already repair and so change a damaged file.
    database = new DatabaseSync(file, { readOnly: true })
    const id = numberOf(database, 'application_id')
    if (id !== applicationId) throw new Error('it is the database of another program')
    const rows = database.prepare('SELECT key, value FROM kv').all() as { key: string; value: Uint8Array }[]
    return {
      version: numberOf(database, 'user_version'),
      rows: new Map(rows.map(({ key, value }) => [key, utf8.decode(value)])),
    }
  } catch (error) {
    throw new ServiceError(
      'unavailable',
      `The store ${file} cannot be read: ${messageOf(error)}. Nothing was changed; put a good copy of it there.`,
      { cause: error },
    )
  } finally {
    database?.close()
  }
}

/** Copies a database, with all that its log still holds, into a new file. */
export const copyDatabase = (file: string, to: string): void => {
  const unfinished = `${to}.new`
  rmSync(unfinished, { force: true })
  using database = new DatabaseSync(file, { readOnly: true })
  database.prepare('VACUUM INTO ?').run(unfinished)
  giveName(unfinished, to)
}

/** A database that is open for writing. */
export interface Database {
  get(key: string): string | undefined
  keys(): readonly string[]
  readonly logs: LogReader
  /** Writes all rows or none; durable on return. Throws `no-space` when the disk is full. */
  commit(rows: readonly (Row | LogRow)[]): void
  /** Writes all rows, or none, together with the version of what they hold. */
  setVersion(rows: readonly Row[], version: number): void
  close(): void
}

const full = 13

const logReader = (database: DatabaseSync): LogReader => {
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
        value: utf8.decode(value),
      }))
    },
  }
}

/** Opens the database in `file` for writing. */
export const openDatabase = (file: string): Database => {
  const database = new DatabaseSync(file)
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
     CREATE TABLE IF NOT EXISTS log (name TEXT, seq INTEGER, value BLOB NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID`,
  )
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
  const writeDocument = ({ key, value }: Row): void => {
    if (value === undefined) remove.run(key)
    else put.run(key, Buffer.from(value))
  }
  const writeEntry = ({ log, seq, value }: LogRow): void => {
    if (value === undefined) forget.run(log, seq)
    else append.run(log, seq, Buffer.from(value))
  }
  const write = (rows: readonly (Row | LogRow)[]): void => {
    for (const row of rows)
      if (isLogRow(row)) writeEntry(row)
      else writeDocument(row)
  }
  const select = database.prepare('SELECT value FROM kv WHERE key = ?')
  const selectKeys = database.prepare('SELECT key FROM kv')
  return {
    logs: logReader(database),
    get(key) {
      const row = select.get(key) as { value: Uint8Array } | undefined
      return row && utf8.decode(row.value)
    },
    keys: () => (selectKeys.all() as { key: string }[]).map(({ key }) => key),
    commit: rows => transaction(() => write(rows)),
    setVersion: (rows, next) =>
      transaction(() => {
        write(rows)
        database.exec(`PRAGMA user_version = ${next}`)
      }),
    close: () => database.close(),
  }
}
