import type { Rows } from './collection.ts'
import { createStore, type Store, useStore } from './store.ts'

const noRows = createStore<Rows<never>>({ rows: [], isLoaded: true, problem: undefined })

/** The rows of a list that not everybody may read: none, and no request, for others. */
export const useListIf = <T>(isAllowed: boolean, list: Store<Rows<T>>): readonly T[] =>
  useStore<Rows<T>>(isAllowed ? list : noRows).rows
