import { isFault, ServiceError } from '#lib/errors.ts'
import type { CommitCounter } from './commit-counter.ts'
import { type Database, openDatabase } from './database.ts'
import { isLogRow, type DocumentRow, type Row } from './rows.ts'
import type { LogReader } from './log.ts'
import type { VerifiedEntry } from './verify-entries.ts'
import type { Reserve } from './reserve.ts'
import { isFull } from './sqlite-errors.ts'
import { verifyAgain, type VerifiedContent } from './prepare-database.ts'
import type { WrappedKey } from './wrapped-key.ts'

/** The only writer of a database. After a failed write it finds out what is on disk, or reports that this is unknown. */
export interface Writer {
  get(key: string): string | undefined
  keys(): readonly string[]
  readonly logs: LogReader
  verify(log: string, after: VerifiedEntry, limit: number): VerifiedEntry
  /**
   * Writes the rows, all or nothing; durable on return. Throws a `ServiceError` when certainly nothing was written (`no-space`
   * on a full disk, `unavailable` after any other failure), and another error when that is unknown.
   */
  commit(rows: readonly Row[], essential: boolean): void
  /** Writes the rows and the version of the data, all or nothing. */
  setVersion(rows: readonly DocumentRow[], version: number): void
  /** Replaces the wrapped data keys of a sealed database. */
  setWrappedKeys(wrappedKeys: readonly WrappedKey[]): void
  readonly shortage: Reserve['shortage']
  readonly hasRoomForFollowUp: Reserve['hasRoomForFollowUp']
  /** The number of commits of a sealed database; 0 for a plain one. */
  commits(): number
  close(): void
}

const createNoSpaceError = (cause: unknown): ServiceError =>
  new ServiceError('no-space', 'The disk that the store is on is full. Nothing was changed.', { cause })
const createNotWrittenError = (cause: unknown): ServiceError =>
  new ServiceError('unavailable', 'The store could not write to the disk. Nothing was changed; try again.', {
    cause,
  })

const hasRow = ({ rows, logs }: VerifiedContent, row: Row): boolean => {
  if (!isLogRow(row)) return rows.get(row.key) === row.value
  const { first = 1, last = 0 } = logs.get(row.log) ?? {}
  return row.value === undefined ? first > row.seq : last >= row.seq
}

/** Whether a plain database has these rows; undefined when it has only some, which a transaction cannot cause. */
const hasRows = (found: VerifiedContent, rows: readonly Row[]): boolean | undefined => {
  // Of several writes of one document only the last one counts.
  const lastWrites = [...new Map(rows.map(row => [isLogRow(row) ? row : row.key, row])).values()]
  if (lastWrites.every(row => hasRow(found, row))) return true
  // A deleted row may have been missing before, so it shows nothing.
  return lastWrites.some(row => row.value !== undefined && hasRow(found, row)) ? undefined : false
}

/** Opens a verified database for writing. */
export const openWriter = (
  file: string,
  content: VerifiedContent,
  reserve: Reserve,
  counter?: CommitCounter,
): Writer => {
  let database: Database = openDatabase(file, content)
  let { state } = content

  /** Whether the database on disk has the rows of a commit; undefined when it has neither the old nor the new content. */
  const wasWritten = (found: VerifiedContent, rows: readonly Row[]): boolean | undefined => {
    if (!state) return hasRows(found, rows)
    const after = state.text()
    state.undo()
    const now = found.state?.text()
    return now === after ? true : now === state.text() ? false : undefined
  }
  /** Reopens the database after a failed write and tells whether the write was done. Throws `cause` when that is unknown. */
  const recover = (rows: readonly Row[], cause: unknown): boolean => {
    try {
      database.close()
      database = openDatabase(file, content)
      const found = verifyAgain(file, content.dataKey)
      const written = wasWritten(found, rows)
      if (written === undefined) throw cause
      database.close()
      database = openDatabase(file, found)
      state = found.state
      database.resetWal(found.version)
      return written
    } catch {
      throw cause
    }
  }
  // After a checkpoint SQLite overwrites the log from its beginning, which needs little room or none.
  const checkpointWal = (): void => database.checkpointWal()
  const runTransaction = (work: () => void): void => {
    try {
      database.transaction(work)
    } catch (error) {
      if (!isFull(error) || database.isInTransaction()) throw error
      state?.undo()
      throw createNoSpaceError(error)
    }
  }
  const runWithRetry = (work: () => void): void => {
    for (let tries = 2; ; tries -= 1)
      try {
        return runTransaction(work)
      } catch (error) {
        if (!isFault(error, 'no-space')) throw error
        checkpointWal()
        if (tries === 1) throw error
      }
  }
  /** Runs a write, with the reserve for essential ones. */
  const run = (essential: boolean, work: () => void): void => {
    reserve.run(essential, work)
    // A short log needs less of the reserve when it is checkpointed.
    if (reserve.shortage() !== undefined) checkpointWal()
  }
  /** Runs a write that is not a commit of the store's users, such as a migration. Converts any error to a ServiceError. */
  const runInternal = (work: () => void): void => {
    try {
      run(true, () => runWithRetry(work))
    } catch (error) {
      throw error instanceof ServiceError ? error : createNotWrittenError(error)
    }
  }

  return {
    logs: {
      bounds: log => database.logs.bounds(log),
      read: (log, range) => database.logs.read(log, range),
    },
    verify: (log, after, limit) => database.verify(log, after, limit),
    get: key => database.get(key),
    keys: () => database.keys(),
    commit(rows, essential) {
      run(essential, () => {
        try {
          runWithRetry(() => database.write(rows))
        } catch (error) {
          if (error instanceof ServiceError) throw error
          if (!recover(rows, error)) throw createNotWrittenError(error)
        }
      })
      counter?.count()
    },
    setVersion: (rows, version) =>
      runInternal(() => {
        database.setVersion(version)
        database.write(rows)
      }),
    setWrappedKeys: wrappedKeys => runInternal(() => database.setWrappedKeys(wrappedKeys)),
    shortage: reserve.shortage,
    hasRoomForFollowUp: reserve.hasRoomForFollowUp,
    commits: () => state?.commits() ?? 0,
    close() {
      try {
        database.storeLogBounds()
      } finally {
        database.close()
      }
    },
  }
}
