import { ServiceError } from '#lib/errors.ts'
import type { Stored } from './store.ts'

/** Undoes a change. Later changes must be undone first. */
export type Undo = () => void

/** The documents of one collection, decoded, with its unique indexes. */
export interface Table<T extends Stored> {
  get(id: string): T | undefined
  /** All documents by id, in code unit order. It is the same array until something changes. */
  list(): readonly T[]
  find(index: string, value: string): T | undefined
  /** Sets a document, or deletes it with undefined. Throws `conflict` when another document has one of its unique values. */
  set(id: string, document: T | undefined): Undo
}

type Unique<T> = Readonly<Record<string, (document: T) => string | undefined>>

const compareById = (a: Stored, b: Stored): number => (a.id < b.id ? -1 : 1)

/** Makes an empty table. `unique` has the indexes by name: each gives the value of a document, or undefined. */
export const createTable = <T extends Stored>(collection: string, unique: Unique<T> = {}): Table<T> => {
  const documents = new Map<string, T>()
  const indexes = Object.entries(unique).map(([name, valueOf]) => ({
    name,
    valueOf,
    holders: new Map<string, string>(),
  }))
  let sorted: readonly T[] | undefined

  const refuseDuplicate = (id: string, document: T): void => {
    for (const { name, valueOf, holders } of indexes) {
      const value = valueOf(document)
      if (value !== undefined && (holders.get(value) ?? id) !== id) {
        throw new ServiceError('conflict', `Another document of ${collection} has this ${name}. Choose another.`)
      }
    }
  }
  const setDocument = (id: string, document: T | undefined): void => {
    const before = documents.get(id)
    for (const { valueOf, holders } of indexes) {
      const old = before && valueOf(before)
      if (old !== undefined) holders.delete(old)
      const value = document && valueOf(document)
      if (value !== undefined) holders.set(value, id)
    }
    if (document) documents.set(id, document)
    else documents.delete(id)
    sorted = undefined
  }

  return {
    get: id => documents.get(id),
    list: () => (sorted ??= Object.freeze([...documents.values()].sort(compareById))),
    find(index, value) {
      const known = indexes.find(({ name }) => name === index)
      if (!known) throw new Error(`${collection} has no index called ${index}`)
      const id = known.holders.get(value)
      return id === undefined ? undefined : documents.get(id)
    },
    set(id, document) {
      if (document) refuseDuplicate(id, document)
      const before = documents.get(id)
      setDocument(id, document)
      return () => setDocument(id, before)
    },
  }
}
