const namePattern = /^[a-z][a-z0-9-]*$/
const idPattern = /^[A-Za-z0-9_-]{1,128}$/

/** Throws when the name of a collection or log is malformed, which is a programming error. */
export const checkName = (name: string): void => {
  if (!namePattern.test(name)) throw new Error(`${JSON.stringify(name)} cannot name a collection or a log`)
}

/** Makes the key `collection:id`. Throws on a malformed name or on an id that the service did not generate: both are programming errors. */
export const toKey = (collection: string, id: string): string => {
  checkName(collection)
  // The message does not show the id, which may be user input.
  if (!idPattern.test(id)) throw new Error(`a document of ${collection} has an id that is not a generated one`)
  return `${collection}:${id}`
}

/** Splits a key that `toKey` made into collection and id. Throws on any other key. */
export const splitKey = (key: string): { readonly collection: string; readonly id: string } => {
  const separator = key.indexOf(':')
  const parts = { collection: key.slice(0, Math.max(separator, 0)), id: key.slice(separator + 1) }
  toKey(parts.collection, parts.id)
  return parts
}
