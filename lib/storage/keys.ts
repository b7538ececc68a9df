const collectionName = /^[a-z][a-z0-9-]*$/
const documentId = /^[A-Za-z0-9_-]{1,128}$/

/** A row as drivers see it: JSON text under a key; undefined deletes. */
export interface Row {
  readonly key: string
  readonly value: string | undefined
}

/** `collection:id`. Throws on anything that is not a collection name with a generated id: a programming error. */
export const keyOf = (collection: string, id: string): string => {
  if (!collectionName.test(collection)) throw new Error(`${JSON.stringify(collection)} cannot name a collection`)
  // The id is not shown: what does not look generated may have come from a user.
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
