import * as z from 'zod'
import type { Store } from '#lib/storage/store.ts'
import type { KeyKeeper } from '../key-keeper.ts'

const StoredKey = z.object({
  id: z.uuid(),
  name: z.string(),
  /** In base64. */
  bytes: z.string(),
})

/** Keeps keys as documents of a store, for a program without files. They are as secret as the store is. */
export const createStoredKeys = (store: Store): KeyKeeper => {
  const keys = store.collection('keys', StoredKey, { unique: { name: ({ name }) => name } })
  const load = async (name: string): Promise<Uint8Array | undefined> => {
    const key = await keys.find('name', name)
    return key && Buffer.from(key.bytes, 'base64')
  }
  return {
    locate: name => `${name} in the store`,
    load,
    loadSecret: load,
    async save(name, bytes) {
      const before = await keys.find('name', name)
      const key = { id: before?.id ?? crypto.randomUUID(), name, bytes: Buffer.from(bytes).toString('base64') }
      await store.commit([keys.put({ ...key, ...(before && { rev: before.rev }) })])
    },
    async list(folder) {
      return (await keys.list()).map(({ name }) => name).filter(name => name.startsWith(`${folder}/`))
    },
    async remove(name) {
      const key = await keys.find('name', name)
      if (key) await store.commit([keys.remove(key)])
    },
  }
}
