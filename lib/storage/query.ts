import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** The columns of an entry of a log, and of a checkpoint. */
export interface EntryRow {
  readonly seq: number
  readonly value: Uint8Array
}

export interface NamedEntryRow extends EntryRow {
  readonly name: string
}

/** A prepared query that gives rows of this type. */
export interface Query<Row> {
  all(...values: readonly SQLInputValue[]): Row[]
  get(...values: readonly SQLInputValue[]): Row | undefined
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>
}

/** Prepares a query. The caller names the columns as the query and the schema of the database have them. */
export const prepareQuery = <Row>(database: DatabaseSync, sql: string): Query<Row> =>
  // SQLite checks the types of columns only as far as the schema says them, and node:sqlite knows neither.
  database.prepare(sql) as unknown as Query<Row>
