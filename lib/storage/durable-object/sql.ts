type SqlValue = ArrayBuffer | Uint8Array | string | number | null

/** The storage of a Durable Object with SQLite, as far as the store uses it. */
export interface DurableObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: readonly SqlValue[]): Iterable<object>
  }
  /** Runs `work` in a transaction. A throw of `work` undoes all of it. */
  transactionSync<T>(work: () => T): T
}

/** A query that gives rows of this type. */
interface Query<Row> {
  (...bindings: readonly SqlValue[]): readonly Row[]
}

/** Runs queries and refuses rows that only the local runtime would store. */
export interface DurableObjectSql {
  run(query: string, ...bindings: readonly SqlValue[]): void
  /** Makes a query. The caller names the columns as the query and the schema have them. */
  prepare<Row>(query: string): Query<Row>
}

/** Bytes of the largest row that the platform stores: https://developers.cloudflare.com/durable-objects/platform/limits/ */
export const maxRowSize = 2_000_000

const encoder = new TextEncoder()

const measureSize = (value: SqlValue): number => {
  if (typeof value === 'string') return encoder.encode(value).length
  return value instanceof Object ? value.byteLength : 8
}

/** Opens the SQLite database of a Durable Object for queries. */
export const openDurableObjectSql = ({ sql }: Pick<DurableObjectStorage, 'sql'>): DurableObjectSql => ({
  run(query, ...bindings) {
    const size = bindings.reduce<number>((sum, value) => sum + measureSize(value), 0)
    if (size > maxRowSize) throw new Error(`A row of ${size} bytes is above the limit of the platform, ${maxRowSize}.`)
    sql.exec(query, ...bindings)
  },
  prepare:
    <Row>(query: string): Query<Row> =>
    // The storage does not know the types of columns.
    (...bindings) =>
      [...sql.exec(query, ...bindings)] as unknown as readonly Row[],
})
