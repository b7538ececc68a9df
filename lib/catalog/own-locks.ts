import * as z from 'zod'
import type { OwnLocks } from '#lib/packs/chunk-store/own-locks.ts'
import type { Store } from '#lib/storage/store.ts'

const LockRecord = z.object({ id: z.uuid(), until: z.int().meta({ description: 'Milliseconds since 1970' }) })

/**
 * Opens the records of the repository locks that this service has taken. Locks in the store at the start belong to an earlier
 * process of this service, because only one process opens a store. Records that ended before `expired` are removed.
 */
export const openOwnLocks = async (store: Store, expired: number): Promise<OwnLocks> => {
  // The name is part of the stored format.
  const records = store.collection('chunk-holds', LockRecord)
  const found = await records.list()
  const old = found.filter(({ until }) => until < expired)
  if (old.length > 0) await store.commit(old.map(({ id }) => records.remove({ id })))
  const stale = new Map(found.flatMap(({ id, until }) => (until < expired ? [] : [[id, Date.now()] as const])))
  return {
    async record(id, until) {
      const known = await records.get(id)
      await store.commit([records.put({ ...known, id, until })])
    },
    async forget(id) {
      await store.commit([records.remove({ id })])
    },
    getStaleSince: id => stale.get(id),
  }
}
