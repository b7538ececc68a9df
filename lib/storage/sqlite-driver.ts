import type { CommitDriver } from './create-store.ts'
import type { Database } from './database.ts'

/**
 * unstorage's driver over one SQLite database, with `commit` beside its methods. The store reads everything once, when
 * it opens, and keeps its documents decoded; from then on it only commits.
 */
export const sqliteDriver = (database: Database): CommitDriver => ({
  name: 'sqlite',
  commit: rows => database.commit(rows),
  logs: database.logs,
  hasItem: key => database.get(key) !== undefined,
  getItem: key => database.get(key) ?? null,
  // Its type says that there is a base, but there is none when all keys are asked for.
  getKeys: (base: string | undefined) => database.keys().filter(key => key.startsWith(base ?? '')),
  setItem: (key, value) => database.commit([{ key, value }]),
  removeItem: key => database.commit([{ key, value: undefined }]),
  dispose: () => database.close(),
})
