import { createStorage } from 'unstorage'
import { createStore } from './create-store.ts'
import type { Store } from './store.ts'

/** An empty store that forgets everything when it is closed. */
export const createMemoryStore = (): Promise<Store> => createStore(createStorage())
