import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { LogBounds } from './seal-state.ts'
import { Wrap } from './wrap.ts'

/** Marks a database file as ours: `vmhs`. */
const applicationId = 0x766d6873

/** Everything but the entries of logs, as it is in the file. */
export interface RawContent {
  /** The version of what the rows hold. */
  readonly version: number
  readonly rows: ReadonlyMap<string, Uint8Array>
  readonly logs: ReadonlyMap<string, LogBounds>
  /** What opens a sealed database; empty for a plain one. */
  readonly wraps: readonly Wrap[]
  readonly state: Uint8Array | undefined
}

/** Every table; also run on opening, for databases of before a table was there. */
export const schema = `
  CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS log (name TEXT, seq INTEGER, value BLOB NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS seal (id INTEGER PRIMARY KEY, value BLOB NOT NULL)`

/** The row of `seal` that holds the state; the others hold wraps. */
export const stateRow = 0

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

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
 * Makes a database that `fill` writes into. It gets its name when it is whole, so that whatever else is found under
 * that name later is damage.
 */
export const writeDatabase = (file: string, version: number, fill: (database: DatabaseSync) => void): void => {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  const database = new DatabaseSync(unfinished)
  try {
    database.exec(
      `PRAGMA synchronous = FULL; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; ${schema}`,
    )
    database.exec('BEGIN')
    fill(database)
    database.exec('COMMIT')
    // Now, not when it is opened under its name: a kill in that moment leaves a journal that no reader may roll back.
    database.exec('PRAGMA journal_mode = WAL')
  } finally {
    database.close()
  }
  giveName(unfinished, file)
}

/** Throws `unavailable` where the log of a database is left that is not there: SQLite would play it into a new one. */
export const refuseLeftLog = (file: string): void => {
  if (existsSync(`${file}-wal`))
    throw new ServiceError(
      'unavailable',
      `${file} is missing, but its log ${file}-wal is there. Nothing was changed; put ${file} back, or remove the log too.`,
    )
}

const cannotBeRead = (file: string, error: unknown): ServiceError =>
  new ServiceError(
    'unavailable',
    `The store ${file} cannot be read: ${messageOf(error)}. Nothing was changed; put a good copy of it there.`,
    { cause: error },
  )

const readSeal = (database: DatabaseSync): Pick<RawContent, 'wraps' | 'state'> => {
  const rows = database.prepare('SELECT id, value FROM seal ORDER BY id').all() as { id: number; value: Uint8Array }[]
  return {
    wraps: rows
      .filter(({ id }) => id !== stateRow)
      .map(({ value }) => Wrap.parse(JSON.parse(Buffer.from(value).toString('utf8')))),
    state: rows.find(({ id }) => id === stateRow)?.value,
  }
}

/** Reads a database without changing a byte of it. Throws `unavailable` for a file that is damaged, or is not ours. */
export const readDatabase = (file: string): RawContent => {
  let database: DatabaseSync | undefined
  try {
    // A writable connection would already repair and so change a damaged file.
    database = new DatabaseSync(file, { readOnly: true })
    const id = numberOf(database, 'application_id')
    if (id !== applicationId) throw new Error('it is the database of another program')
    const tables = new Set(
      (database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[]).map(
        ({ name }) => name,
      ),
    )
    const rows = database.prepare('SELECT key, value FROM kv').all() as { key: string; value: Uint8Array }[]
    const logs = tables.has('log')
      ? (database.prepare('SELECT name, min(seq) AS first, max(seq) AS last FROM log GROUP BY name').all() as {
          name: string
          first: number
          last: number
        }[])
      : []
    return {
      version: numberOf(database, 'user_version'),
      rows: new Map(rows.map(({ key, value }) => [key, value])),
      logs: new Map(logs.map(({ name, first, last }) => [name, { first, last }])),
      ...(tables.has('seal') ? readSeal(database) : { wraps: [], state: undefined }),
    }
  } catch (error) {
    throw cannotBeRead(file, error)
  } finally {
    database?.close()
  }
}

/** Runs `read` and turns whatever it throws into the refusal of a store that cannot be read. */
export const reading = <T>(file: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw error instanceof ServiceError ? error : cannotBeRead(file, error)
  }
}

/** Copies a database, with all that its log still holds, into a new file; also while another process writes to it. */
export const copyDatabase = async (file: string, to: string): Promise<void> => {
  const unfinished = `${to}.new`
  rmSync(unfinished, { force: true })
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    // In one step: SQLite begins anew whenever somebody writes between two of them.
    await backup(database, unfinished, { rate: 2 ** 31 - 1 })
  } finally {
    database.close()
  }
  giveName(unfinished, to)
}

/** Adds the tables that a database of an earlier program does not have. */
export const ensureTables = (file: string): void => {
  using database = new DatabaseSync(file)
  database.exec(schema)
}

/** Brings all that the log of a database holds into its file: nobody may have it open. */
export const foldLog = (file: string): void => {
  using database = new DatabaseSync(file)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}
