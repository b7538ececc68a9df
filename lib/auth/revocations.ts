import * as z from 'zod'
import type { Store } from '#lib/storage/store.ts'

/** A token that was signed out of before it expired. `id` is the token's own (`jti`). */
const Revocation = z.object({ id: z.uuid(), expires_at: z.number().meta({ description: 'Seconds since 1970' }) })

/** Tokens that are not believed any more though their time is not over. Survives a restart. */
export interface Revocations {
  has(tokenId: string): boolean
  /** `expiresAt` in seconds since 1970: after that nothing needs to be remembered. */
  add(tokenId: string, expiresAt: number): Promise<void>
}

export const openRevocations = async (store: Store): Promise<Revocations> => {
  const collection = store.collection('revocations', Revocation)
  const ids = new Set((await collection.list()).map(({ id }) => id))
  return {
    has: tokenId => ids.has(tokenId),
    async add(tokenId, expiresAt) {
      if (ids.has(tokenId)) return
      const over = (await collection.list()).filter(one => one.expires_at * 1000 <= Date.now())
      // In memory first: the token must not open anything while the disk is written.
      ids.add(tokenId)
      const forgotten = over.map(({ id }) => collection.remove({ id }))
      await store
        .commit([collection.put({ id: tokenId, expires_at: expiresAt }), ...forgotten])
        .catch((error: unknown) => {
          // It would come back with a restart: whoever asked is told that it failed, and can ask again.
          ids.delete(tokenId)
          throw error
        })
      for (const { id } of over) ids.delete(id)
    },
  }
}
