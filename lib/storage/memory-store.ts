import { createStorage } from 'unstorage'
import { createStore } from './create-store.ts'
import type { Store } from './store.ts'

/** Makes an empty store in memory. Its content is lost when it is closed. */
export const createMemoryStore = (): Promise<Store> => createStore(createStorage())
