import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { toKey } from './keys.ts'
import type { DocumentRow } from './rows.ts'
import type { Stored } from './store.ts'

const RawDocument = z.looseObject({ id: z.string(), rev: z.int().min(1) })

/** The content of a row before it is parsed with its collection's schema. */
export type RawDocument = z.infer<typeof RawDocument>

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}

/** Names the wrong members of a document, never their values: they may be secrets. */
const describePaths = (error: z.ZodError): string =>
  error.issues.map(issue => `${issue.path.join('.') || 'the document'} (${issue.code})`).join(', ')

const createDamageError = (key: string, damage: string): ServiceError =>
  new ServiceError('internal', `The stored document ${key} cannot be read: ${damage}. Restore a copy of the store.`)

/**
 * Parses the value of a row, which is JSON text, or JSON that a driver has parsed already. Throws an error that names the key
 * when it is not a document with the id of this key.
 */
export const parseRawDocument = (key: string, value: unknown): RawDocument => {
  let json: unknown
  try {
    json = typeof value === 'string' ? JSON.parse(value) : value
  } catch {
    throw createDamageError(key, 'it is not JSON')
  }
  const parsed = RawDocument.safeParse(json)
  if (!parsed.success) throw createDamageError(key, `wrong ${describePaths(parsed.error)}`)
  if (!key.endsWith(`:${parsed.data.id}`)) throw createDamageError(key, 'it carries the id of another document')
  return parsed.data
}

/** Parses the values of rows by key, as `parseRawDocument` does each. */
export const parseRows = (rows: ReadonlyMap<string, string>): ReadonlyMap<string, RawDocument> =>
  new Map([...rows].map(([key, text]) => [key, parseRawDocument(key, text)]))

/** Parses a raw document with its schema and freezes it. Throws an error that names the key when it is not valid. */
export const decodeDocument = <T extends object>(
  schema: z.ZodType<T>,
  key: string,
  { rev, ...document }: RawDocument,
): T & Stored => {
  const parsed = schema.safeParse(document)
  if (!parsed.success) throw createDamageError(key, `wrong ${describePaths(parsed.error)}`)
  return deepFreeze({ ...parsed.data, id: document.id, rev })
}

/**
 * Gives the document as a later start would read it from disk, without `rev`. Throws when that start could not read it: the
 * store would not open any more.
 */
export const normalizeDocument = <T extends { readonly id: string }>(
  schema: z.ZodType<T>,
  collection: string,
  document: T & { readonly rev?: number },
): T => {
  const { rev: _, ...content } = document
  const parsed = schema.safeParse(JSON.parse(JSON.stringify(content)))
  if (!parsed.success)
    throw new Error(`${toKey(collection, document.id)} is not stored: wrong ${describePaths(parsed.error)}`)
  return deepFreeze(parsed.data)
}

/** Makes the row of a document. Without a document, the row deletes what is under the key. */
export const toRow = (key: string, document: object | undefined): DocumentRow => ({
  key,
  value: document && JSON.stringify(document),
})
