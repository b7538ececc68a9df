import type { Collection, Store, Write } from '#lib/storage/store.ts'
import { CatalogManager } from './schemas.ts'

/** The stored catalog managers. */
export interface ManagerRecords extends Collection<CatalogManager> {
  /** Gives the writes that delete a user's own managers, for the commit that deletes the user. Global ones stay: others use them. */
  prepareRemoval(userId: string): Promise<readonly Write[]>
}

export const openManagerRecords = (store: Store): ManagerRecords => {
  const managers = store.collection('catalog-managers', CatalogManager)
  return {
    ...managers,
    prepareRemoval: async userId =>
      (await managers.list()).filter(({ owner_id, global }) => owner_id === userId && !global).map(managers.remove),
  }
}
