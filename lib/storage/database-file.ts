import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { isFirstVersion } from './first-version.ts'
import { toFullDiskError } from './full-disk.ts'
import type { LogBounds } from './seal-state.ts'
import { createFileAtomic } from './create-file-atomic.ts'
import { prepareQuery } from './query.ts'
import { WrappedKey } from './wrapped-key.ts'
import { checkWal } from './write-ahead-log.ts'

/** SQLite's application id of our database files: `vmhs`. */
const applicationId = 0x766d6873

/** The raw content of a database file, without the entries of logs. */
export interface RawContent {
  /** The version of the rows' content. */
  readonly version: number
  readonly rows: ReadonlyMap<string, Uint8Array>
  readonly logs: ReadonlyMap<string, LogBounds>
  /** The wrapped data keys of a sealed database; empty for a plain one. */
  readonly wrappedKeys: readonly WrappedKey[]
  readonly state: Uint8Array | undefined
}

const schema = `
  CREATE TABLE kv (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE log (name TEXT, seq INTEGER, value BLOB NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID;
  CREATE TABLE checkpoint (name TEXT, seq INTEGER, value BLOB NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID;
  CREATE TABLE seal (id INTEGER PRIMARY KEY, value BLOB NOT NULL)`

const tableNames = ['kv', 'log', 'seal', 'checkpoint']

/** The id of the row of `seal` that holds the state. The other rows hold wrapped keys. */
export const stateRow = 0

const readPragma = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

/** Creates a database that `fill` writes into. Throws as `createFileAtomic` does. */
export const createDatabaseFile = (
  file: string,
  version: number,
  fill: (database: DatabaseSync) => void,
): Promise<void> =>
  createFileAtomic(file, async unfinished => {
    using database = new DatabaseSync(unfinished)
    database.exec(
      `PRAGMA synchronous = FULL; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; ${schema}`,
    )
    database.exec('BEGIN')
    fill(database)
    database.exec('COMMIT')
    // Set now rather than at the first opening: a kill at that moment leaves a journal that no reader may roll back.
    database.exec('PRAGMA journal_mode = WAL')
  })

/** Throws `unavailable` when the database is missing but its write-ahead log is there: SQLite would replay it into a new one. */
export const refuseOrphanedWal = (file: string): void => {
  if (existsSync(`${file}-wal`))
    throw new ServiceError(
      'unavailable',
      `${file} is missing, but its log ${file}-wal is there. Nothing was changed; put ${file} back, or remove the log too.`,
    )
}

/** The error for a database that is damaged or belongs to another program. */
export class UnreadableDatabase extends ServiceError {
  /** What is wrong with the database. */
  readonly reason: string

  constructor(file: string, cause: unknown) {
    const reason = messageOf(cause)
    super(
      'unavailable',
      `The store ${file} cannot be read: ${reason}. Nothing was changed; put a good copy of it there.`,
      {
        cause,
      },
    )
    this.reason = reason
  }
}

/** SQLite needs disk space even for reading, for the index of its write-ahead log. */
const toReadError = (file: string, error: unknown): ServiceError =>
  toFullDiskError(dirname(file), error) ?? new UnreadableDatabase(file, error)

const readSeal = (database: DatabaseSync): Pick<RawContent, 'wrappedKeys' | 'state'> => {
  const rows = prepareQuery<{ id: number; value: Uint8Array }>(database, 'SELECT id, value FROM seal ORDER BY id').all()
  return {
    wrappedKeys: rows
      .filter(({ id }) => id !== stateRow)
      .map(({ value }) => WrappedKey.parse(JSON.parse(Buffer.from(value).toString('utf8')))),
    state: rows.find(({ id }) => id === stateRow)?.value,
  }
}

// Steps from name to name through the index: a scan of every entry would take as long as reading them.
const selectLogBounds = `
  WITH RECURSIVE found(name) AS (
    SELECT min(name) FROM log
    UNION ALL SELECT (SELECT min(name) FROM log WHERE name > found.name) FROM found WHERE found.name IS NOT NULL
  )
  SELECT name, (SELECT min(seq) FROM log WHERE name = found.name) AS first,
    (SELECT max(seq) FROM log WHERE name = found.name) AS last
  FROM found WHERE name IS NOT NULL`

/** Reads the first and last entry number of every log. */
export const readLogBounds = (database: DatabaseSync): RawContent['logs'] => {
  const logs = prepareQuery<{ name: string } & LogBounds>(database, selectLogBounds).all()
  return new Map(logs.map(({ name, first, last }) => [name, { first, last }]))
}

/** Checks the pages of the table of rows. Each row verifies itself, but only the pages show that none is missing. */
const checkPages = (database: DatabaseSync): void => {
  const [found] = prepareQuery<{ quick_check: string }>(database, 'PRAGMA quick_check(kv)').all()
  if (found?.quick_check !== 'ok') throw new Error(found?.quick_check ?? 'it could not be checked')
}

/** Reads a database without changing its file. Throws `unavailable` for a file that is damaged or not ours. */
export const readDatabase = (file: string): RawContent => {
  let database: DatabaseSync | undefined
  try {
    checkWal(file)
    // A writable connection would repair a damaged file, and so change it.
    database = new DatabaseSync(file, { readOnly: true })
    const id = readPragma(database, 'application_id')
    if (id !== applicationId) throw new Error('it is the database of another program')
    const version = readPragma(database, 'user_version')
    const tables = new Set(
      prepareQuery<{ name: string }>(database, "SELECT name FROM sqlite_master WHERE type = 'table'")
        .all()
        .map(({ name }) => name),
    )
    // The tables were added during the first version. A later database without one of them is damaged.
    const missing = isFirstVersion(version) ? undefined : tableNames.find(name => !tables.has(name))
    if (missing !== undefined) throw new Error(`its table ${missing} is missing`)
    checkPages(database)
    const rows = prepareQuery<{ key: string; value: Uint8Array }>(database, 'SELECT key, value FROM kv').all()
    return {
      version,
      rows: new Map(rows.map(({ key, value }) => [key, value])),
      logs: tables.has('log') ? readLogBounds(database) : new Map(),
      ...(tables.has('seal') ? readSeal(database) : { wrappedKeys: [], state: undefined }),
    }
  } catch (error) {
    throw toReadError(file, error)
  } finally {
    database?.close()
  }
}

/** Runs `read` and converts any error to the `unavailable` error of a store that cannot be read. */
export const withReadErrors = <T>(file: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw error instanceof ServiceError ? error : toReadError(file, error)
  }
}

/**
 * Copies a database, including the content of its write-ahead log, into a new file. Another process may write to it
 * meanwhile. Throws as `createFileAtomic` does.
 */
export const copyDatabase = (file: string, to: string): Promise<void> =>
  createFileAtomic(to, async unfinished => {
    using database = new DatabaseSync(file, { readOnly: true })
    // In one step: SQLite restarts the copy when somebody writes between two steps.
    await backup(database, unfinished, { rate: 2 ** 31 - 1 })
  })

/**
 * Runs `read` on a database and then removes the write-ahead log that SQLite created for reading, as a last writer would:
 * under SQLite's locks. A log that was there before stays.
 */
export const readAndCleanUp = async <T>(file: string, read: () => Promise<T>): Promise<T> => {
  const hadWal = existsSync(`${file}-wal`)
  try {
    return await read()
  } finally {
    if (!hadWal && existsSync(`${file}-wal`)) checkpointWal(file)
  }
}

/** Moves the whole write-ahead log of a database into its file. Nobody else may have the database open. */
export const checkpointWal = (file: string): void => {
  using database = new DatabaseSync(file)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}
