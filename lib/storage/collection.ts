import type * as z from 'zod'
import { isFault, ServiceError } from '#lib/errors.ts'
import { settle } from './documents.ts'
import { keyOf } from './keys.ts'
import type { Collection, Store, Stored, Write } from './store.ts'
import type { Table } from './table.ts'

interface Options<T extends { readonly id: string }> {
  readonly name: string
  readonly schema: z.ZodType<T>
  readonly table: Table<T & Stored>
  readonly commit: Store['commit']
}

/** The documents of one name: reading them, and making the writes that change them. */
export const createCollection = <T extends { readonly id: string }>(options: Options<T>): Collection<T> => {
  const { name, schema, table, commit } = options
  const put = (document: T & { readonly rev?: number }): Write & { readonly value: T } => {
    keyOf(name, document.id)
    return { collection: name, id: document.id, expects: document.rev ?? 0, value: settle(schema, name, document) }
  }
  return {
    get: async id => table.get(id),
    list: async () => table.list(),
    find: async (index, value) => table.find(index, value),
    put,
    remove: ({ id, rev }) => ({ collection: name, id, expects: rev, value: undefined }),
    async update(id, change, beside = []) {
      for (;;) {
        const before = table.get(id)
        if (!before) throw new ServiceError('not-found', `There is no ${name}:${id}.`)
        const write = put({ ...change(before), id, rev: before.rev })
        try {
          await commit([write, ...beside])
          return Object.freeze({ ...write.value, id, rev: before.rev + 1 })
        } catch (error) {
          // A conflict with the same revision still there is a unique value taken: again would not help.
          if (!isFault(error, 'conflict') || table.get(id)?.rev === before.rev) throw error
        }
      }
    },
  }
}
