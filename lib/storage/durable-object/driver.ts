import { ServiceError } from '#lib/errors.ts'
import { formatDocumentAssociatedData, plainCodec } from '../codec.ts'
import type { CommitDriver } from '../create-store.ts'
import { openDurableObjectLogs } from './logs.ts'
import { type DurableObjectStorage, openDurableObjectSql } from './sql.ts'
import { cutIntoPieces, joinPieces, type Piece } from './pieces.ts'
import { type DocumentRow, isLogRow } from '../rows.ts'

/** The driver of a Durable Object, and what opening the store needs of it. */
export interface DurableObjectDriver extends CommitDriver {
  /** Every document by its key. Throws when one is damaged. */
  readAll(): ReadonlyMap<string, string>
  /** The version of the documents; undefined in a new database. */
  version(): number | undefined
  /** Writes the rows and their version, all or nothing. */
  setVersion(rows: readonly DocumentRow[], version: number): void
}

/** The transaction was undone, so nothing was written. SQLite's message is all that tells a full database from other failures. */
const toWriteError = (cause: unknown): ServiceError =>
  /SQLITE_FULL/.test(String(cause))
    ? new ServiceError('no-space', 'The database of the store is full. Nothing was changed.', { cause })
    : new ServiceError('unavailable', 'The store could not write. Nothing was changed; try again.', { cause })

/**
 * An unstorage driver over the SQLite database of a Durable Object, with commits and logs. The platform sends no reply before
 * what was committed is durable, so commits need not wait. Documents carry a checksum and are cut into pieces that fit into rows.
 */
export const createDurableObjectDriver = (storage: DurableObjectStorage): DurableObjectDriver => {
  const sql = openDurableObjectSql(storage)
  const { run, prepare } = sql
  run(
    'CREATE TABLE IF NOT EXISTS documents (key TEXT, piece INTEGER, value BLOB NOT NULL, PRIMARY KEY (key, piece)) WITHOUT ROWID',
  )
  run('CREATE TABLE IF NOT EXISTS version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)')
  const logs = openDurableObjectLogs(sql)

  const decodeAll = (pieces: readonly Piece<string>[]): ReadonlyMap<string, string> =>
    new Map(
      [...joinPieces(pieces)].map(([key, bytes]) => [key, plainCodec.decode(formatDocumentAssociatedData(key), bytes)]),
    )
  const selectOne = prepare<Piece<string>>('SELECT key AS id, value FROM documents WHERE key = ? ORDER BY piece')
  const selectAll = prepare<Piece<string>>('SELECT key AS id, value FROM documents ORDER BY key, piece')
  const selectKeys = prepare<{ key: string }>('SELECT DISTINCT key FROM documents')
  const selectVersion = prepare<{ version: number }>('SELECT version FROM version')
  const read = (key: string): string | undefined => decodeAll(selectOne(key)).get(key)
  const write = ({ key, value }: DocumentRow): void => {
    const pieces = value === undefined ? [] : cutIntoPieces(plainCodec.encode(formatDocumentAssociatedData(key), value))
    for (const [at, piece] of pieces.entries()) run('INSERT OR REPLACE INTO documents VALUES (?, ?, ?)', key, at, piece)
    run('DELETE FROM documents WHERE key = ? AND piece >= ?', key, pieces.length)
  }
  const runTransaction = (work: () => void): void => {
    try {
      storage.transactionSync(work)
    } catch (error) {
      throw toWriteError(error)
    }
  }
  const commit: DurableObjectDriver['commit'] = rows =>
    runTransaction(() => rows.forEach(row => (isLogRow(row) ? logs.write(row) : write(row))))

  return {
    name: 'durable-object',
    commit,
    logs,
    // Documents fill the memory long before they fill the database, and logs are bounded, so nothing is kept in reserve.
    shortage: () => undefined,
    hasRoomForFollowUp: () => true,
    hasItem: key => read(key) !== undefined,
    getItem: key => read(key) ?? null,
    // The type requires `base`, but unstorage leaves it out when it lists all keys.
    getKeys: (base: string | undefined) =>
      selectKeys()
        .map(({ key }) => key)
        .filter(key => key.startsWith(base ?? '')),
    setItem: (key, value) => commit([{ key, value }], false),
    removeItem: key => commit([{ key, value: undefined }], false),
    readAll: () => decodeAll(selectAll()),
    version: () => selectVersion()[0]?.version,
    setVersion: (rows, version) =>
      runTransaction(() => {
        rows.forEach(write)
        run('INSERT OR REPLACE INTO version VALUES (1, ?)', version)
      }),
  }
}
