/** A document as drivers see it. */
export interface DocumentRow {
  readonly key: string
  /** JSON text. Undefined deletes the document. */
  readonly value: string | undefined
}

/** An entry of a log as drivers see it. */
export interface LogRow {
  readonly log: string
  readonly seq: number
  /** JSON text. Undefined deletes the entry and all before it. */
  readonly value: string | undefined
}

/** What a driver writes. */
export type Row = DocumentRow | LogRow

/** True if a row belongs to a log. */
export const isLogRow = (row: Row): row is LogRow => 'log' in row

/** True if a row is a document. */
export const isDocumentRow = (row: Row): row is DocumentRow => !isLogRow(row)
