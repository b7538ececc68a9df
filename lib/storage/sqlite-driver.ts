import type { CommitDriver } from './create-store.ts'
import type { Writer } from './writer.ts'

/**
 * An unstorage driver over one SQLite database, with commits and logs. The store reads all documents once, when it opens, and
 * holds them decoded in memory. After that it reads only texts and logs, and writes only by `commit`.
 */
export const createSqliteDriver = (database: Writer): CommitDriver => ({
  name: 'sqlite',
  commit: (rows, essential) => database.commit(rows, essential),
  logs: database.logs,
  shortage: database.shortage,
  hasRoomForFollowUp: database.hasRoomForFollowUp,
  hasItem: key => database.get(key) !== undefined,
  getItem: key => database.get(key) ?? null,
  // The type requires `base`, but unstorage leaves it out when it lists all keys.
  getKeys: (base: string | undefined) => database.keys().filter(key => key.startsWith(base ?? '')),
  setItem: (key, value) => database.commit([{ key, value }], false),
  removeItem: key => database.commit([{ key, value: undefined }], false),
  dispose: () => database.close(),
})
