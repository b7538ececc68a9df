import * as z from 'zod'
import type { OwnLocks } from '#lib/packs/chunk-store/own-locks.ts'
import type { Store } from '#lib/storage/store.ts'

const Note = z.object({ id: z.uuid(), until: z.int().meta({ description: 'Milliseconds since 1970' }) })

/** Opens the notes of a state that no other process has open; those that ended before `expired` are of no use. */
export const openOwnHolds = async (store: Store, expired: number): Promise<OwnLocks> => {
  const notes = store.collection('chunk-holds', Note)
  const found = await notes.list()
  const old = found.filter(({ until }) => until < expired)
  if (old.length > 0) await store.commit(old.map(({ id }) => notes.remove({ id })))
  const dead = new Map(found.flatMap(({ id, until }) => (until < expired ? [] : [[id, Date.now()] as const])))
  return {
    async record(id, until) {
      const known = await notes.get(id)
      await store.commit([notes.put({ ...known, id, until })])
    },
    async forget(id) {
      await store.commit([notes.remove({ id })])
    },
    getStaleSince: id => dead.get(id),
  }
}
