import type { Collection, Store, Write } from '#lib/storage/store.ts'
import { CatalogManager } from './schemas.ts'

/** The managers as they are kept. */
export interface ManagerRecords extends Collection<CatalogManager> {
  /** The writes that delete what a user keeps for themselves, for the commit that deletes the user. */
  prepareRemoval(userId: string): Promise<readonly Write[]>
}

export const openManagerRecords = (store: Store): ManagerRecords => {
  const managers = store.collection('catalog-managers', CatalogManager)
  return {
    ...managers,
    // A global one is in use by others.
    prepareRemoval: async userId =>
      (await managers.list()).filter(({ owner_id, global }) => owner_id === userId && !global).map(managers.remove),
  }
}
