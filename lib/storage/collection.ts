import type * as z from 'zod'
import { isFault, ServiceError } from '#lib/errors.ts'
import { normalizeDocument } from './documents.ts'
import { toKey } from './keys.ts'
import type { Collection, Store, Stored, Write } from './store.ts'
import type { Table } from './table.ts'

interface Options<T extends { readonly id: string }> {
  readonly name: string
  readonly schema: z.ZodType<T>
  readonly table: Table<T & Stored>
  readonly commit: Store['commit']
}

/** Makes a collection: it reads documents from the table, and makes the writes that change them. */
export const createCollection = <T extends { readonly id: string }>(options: Options<T>): Collection<T> => {
  const { name, schema, table, commit } = options
  const put = (document: T & { readonly rev?: number }): Write & { readonly value: T } => {
    toKey(name, document.id)
    return {
      collection: name,
      id: document.id,
      expectedRev: document.rev ?? 0,
      value: normalizeDocument(schema, name, document),
    }
  }
  return {
    get: async id => table.get(id),
    getSync: id => table.get(id),
    list: async () => table.list(),
    find: async (index, value) => table.find(index, value),
    put,
    remove: ({ id, rev }) => ({ collection: name, id, expectedRev: rev, value: undefined }),
    async update(id, change, otherWrites = [], options = {}) {
      for (;;) {
        const before = table.get(id)
        if (!before) throw new ServiceError('not-found', `There is no ${name}:${id}.`)
        const write = put({ ...change(before), id, rev: before.rev })
        try {
          await commit([write, ...otherWrites], options)
          return Object.freeze({ ...write.value, id, rev: before.rev + 1 })
        } catch (error) {
          // If the revision is the same, the conflict is a duplicate unique value. A retry would not help.
          if (!isFault(error, 'conflict') || table.get(id)?.rev === before.rev) throw error
        }
      }
    },
  }
}
