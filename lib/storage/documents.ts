import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { keyOf, type Row } from './keys.ts'
import type { Stored } from './store.ts'

const Envelope = z.looseObject({ id: z.string(), rev: z.int().min(1) })

/** What a row holds before its collection's schema has seen it. */
export type Envelope = z.infer<typeof Envelope>

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

// Only the places are told, never the values: a document may hold a secret.
const placesOf = (error: z.ZodError): string =>
  error.issues.map(issue => `${issue.path.join('.') || 'the document'} (${issue.code})`).join(', ')

const damaged = (key: string, why: string): ServiceError =>
  new ServiceError('internal', `The stored document ${key} cannot be read: ${why}. Restore a copy of the store.`)

/** Reads the JSON text of a row. Throws an error that names the key when it is no document with this key's id. */
export const envelopeOf = (key: string, text: unknown): Envelope => {
  let json: unknown
  try {
    json = typeof text === 'string' ? JSON.parse(text) : text
  } catch {
    throw damaged(key, 'it is not JSON')
  }
  const parsed = Envelope.safeParse(json)
  if (!parsed.success) throw damaged(key, `wrong ${placesOf(parsed.error)}`)
  if (!key.endsWith(`:${parsed.data.id}`)) throw damaged(key, 'it carries the id of another document')
  return parsed.data
}

/** The document of a row, frozen. Throws an error that names the key when it does not meet the schema. */
export const decode = <T extends object>(
  schema: z.ZodType<T>,
  key: string,
  { rev, ...document }: Envelope,
): T & Stored => {
  const parsed = schema.safeParse(document)
  if (!parsed.success) throw damaged(key, `wrong ${placesOf(parsed.error)}`)
  return freeze({ ...parsed.data, id: document.id, rev })
}

/**
 * The document as it would come back from disk, without `rev`. Throws when it would not come back: accepting it now
 * would keep the store from opening later.
 */
export const settle = <T extends { readonly id: string }>(
  schema: z.ZodType<T>,
  collection: string,
  document: T & { readonly rev?: number },
): T => {
  const { rev: _, ...bare } = document
  const parsed = schema.safeParse(JSON.parse(JSON.stringify(bare)))
  if (!parsed.success)
    throw new Error(`${keyOf(collection, document.id)} is not stored: wrong ${placesOf(parsed.error)}`)
  return freeze(parsed.data)
}

/** The row of a document. */
export const rowOf = (key: string, document: object | undefined): Row => ({
  key,
  value: document && JSON.stringify(document),
})
