import * as z from 'zod'
import type { Store } from '#lib/storage/store.ts'

/** A token that was ended before it expired. `id` is its `jti`. */
const Revocation = z.object({ id: z.uuid(), expires_at: z.number().meta({ description: 'Seconds since 1970' }) })

/** The tokens that were ended before they expired. They survive a restart. */
export interface Revocations {
  has(tokenId: string): boolean
  /** Ends a token. `expiresAt` is its expiry in seconds since 1970, after which the revocation is removed. */
  add(tokenId: string, expiresAt: number): Promise<void>
}

export const openRevocations = async (store: Store): Promise<Revocations> => {
  const collection = store.collection('revocations', Revocation)
  const ids = new Set((await collection.list()).map(({ id }) => id))
  return {
    has: tokenId => ids.has(tokenId),
    async add(tokenId, expiresAt) {
      if (ids.has(tokenId)) return
      const expired = (await collection.list()).filter(one => one.expires_at * 1000 <= Date.now())
      // In memory first: the token must not be accepted while the disk is written.
      ids.add(tokenId)
      const removals = expired.map(({ id }) => collection.remove({ id }))
      await store
        .commit([collection.put({ id: tokenId, expires_at: expiresAt }), ...removals], { essential: true })
        .catch((error: unknown) => {
          // The token would be valid again after a restart, so the caller gets the error and can retry.
          ids.delete(tokenId)
          throw error
        })
      for (const { id } of expired) ids.delete(id)
    },
  }
}
