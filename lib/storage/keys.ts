const collectionName = /^[a-z][a-z0-9-]*$/
const documentId = /^[A-Za-z0-9_-]{1,128}$/

/** A document as drivers see it: JSON text under a key; undefined deletes. */
export interface Row {
  readonly key: string
  readonly value: string | undefined
}

/** An entry of a log as drivers see it: JSON text under a number; undefined deletes it and all before it. */
export interface LogRow {
  readonly log: string
  readonly seq: number
  readonly value: string | undefined
}

/** Whether a row belongs to a log. */
export const isLogRow = (row: Row | LogRow): row is LogRow => 'log' in row

/** Whether a row is a document. */
export const isDocumentRow = (row: Row | LogRow): row is Row => !isLogRow(row)

/** Throws when the name of a collection or log is malformed, which is a programming error. */
export const checkName = (name: string): void => {
  if (!collectionName.test(name)) throw new Error(`${JSON.stringify(name)} cannot name a collection`)
}

/** The key `collection:id`. Throws on a malformed name or an id that is not generated, which is a programming error. */
export const keyOf = (collection: string, id: string): string => {
  checkName(collection)
  // The message does not show the id: one that is not generated may be user input.
  if (!documentId.test(id)) throw new Error(`a document of ${collection} has an id that is not a generated one`)
  return `${collection}:${id}`
}

/** The collection and the id in a key that `keyOf` made. Throws on any other key. */
export const splitKey = (key: string): { readonly collection: string; readonly id: string } => {
  const at = key.indexOf(':')
  const parts = { collection: key.slice(0, Math.max(at, 0)), id: key.slice(at + 1) }
  keyOf(parts.collection, parts.id)
  return parts
}
