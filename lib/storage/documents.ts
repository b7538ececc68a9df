import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { keyOf, type Row } from './keys.ts'
import type { Stored } from './store.ts'

const RawDocument = z.looseObject({ id: z.string(), rev: z.int().min(1) })

/** The content of a row before it is parsed with its collection's schema. */
export type RawDocument = z.infer<typeof RawDocument>

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

// Only the paths are shown, never the values: a document may hold a secret.
const describePaths = (error: z.ZodError): string =>
  error.issues.map(issue => `${issue.path.join('.') || 'the document'} (${issue.code})`).join(', ')

const damagedDocument = (key: string, why: string): ServiceError =>
  new ServiceError('internal', `The stored document ${key} cannot be read: ${why}. Restore a copy of the store.`)

/** Parses the JSON text of a row. Throws an error that names the key when it is not a document with the id of this key. */
export const parseRawDocument = (key: string, text: unknown): RawDocument => {
  let json: unknown
  try {
    json = typeof text === 'string' ? JSON.parse(text) : text
  } catch {
    throw damagedDocument(key, 'it is not JSON')
  }
  const parsed = RawDocument.safeParse(json)
  if (!parsed.success) throw damagedDocument(key, `wrong ${describePaths(parsed.error)}`)
  if (!key.endsWith(`:${parsed.data.id}`)) throw damagedDocument(key, 'it carries the id of another document')
  return parsed.data
}

/** Parses a raw document with its schema and freezes it. Throws an error that names the key when it is not valid. */
export const decodeDocument = <T extends object>(
  schema: z.ZodType<T>,
  key: string,
  { rev, ...document }: RawDocument,
): T & Stored => {
  const parsed = schema.safeParse(document)
  if (!parsed.success) throw damagedDocument(key, `wrong ${describePaths(parsed.error)}`)
  return freeze({ ...parsed.data, id: document.id, rev })
}

/**
 * Gives the document as it would be read from disk, without `rev`. Throws when it could not be read back, because a store
 * with such a document would not open.
 */
export const normalizeDocument = <T extends { readonly id: string }>(
  schema: z.ZodType<T>,
  collection: string,
  document: T & { readonly rev?: number },
): T => {
  const { rev: _, ...bare } = document
  const parsed = schema.safeParse(JSON.parse(JSON.stringify(bare)))
  if (!parsed.success)
    throw new Error(`${keyOf(collection, document.id)} is not stored: wrong ${describePaths(parsed.error)}`)
  return freeze(parsed.data)
}

/** Makes the row of a document; undefined deletes it. */
export const toRow = (key: string, document: object | undefined): Row => ({
  key,
  value: document && JSON.stringify(document),
})
