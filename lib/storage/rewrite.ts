import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import {
  formatCheckpointAssociatedData,
  type Codec,
  formatDocumentAssociatedData,
  formatEntryAssociatedData,
  plainCodec,
} from './codec.ts'
import { writeCommitCount } from './commit-counter.ts'
import { checkpointWal, type RawContent, stateRow, createDatabaseFile } from './database-file.ts'
import { checkpointInterval } from './verify-entries.ts'
import { type NamedEntryRow, prepareQuery } from './query.ts'
import { dataKeySize, sealCodec } from './seal.ts'
import { createSealState, firstLink, computeNextLink, createRowMac, type SealedLog } from './seal-state.ts'
import { type SealSecrets, type WrappedKey, wrapDataKey } from './wrapped-key.ts'

/** The data key of a sealed database, with the wrapped forms of it that are stored. */
export interface Seal {
  readonly dataKey: Buffer
  readonly wrappedKeys: readonly WrappedKey[]
}

/** Makes a seal with a new data key. */
export const createSeal = async (secrets: SealSecrets): Promise<Seal> => {
  const dataKey = randomBytes(dataKeySize)
  return { dataKey, wrappedKeys: [await wrapDataKey(dataKey, secrets)] }
}

/** Writes the entries of logs and their checkpoints. Gives the bounds and the last chain hash of each log. */
const writeLogs = (
  database: DatabaseSync,
  entries: Iterable<NamedEntryRow>,
  [before, after]: readonly [Codec, Codec],
  isSealed: boolean,
): ReadonlyMap<string, SealedLog> => {
  const append = database.prepare('INSERT INTO log VALUES (?, ?, ?)')
  const putCheckpoint = database.prepare('INSERT INTO checkpoint VALUES (?, ?, ?)')
  const logs = new Map<string, SealedLog>()
  const putLogCheckpoint = (name: string, seq: number, link: string): void =>
    void putCheckpoint.run(name, seq, after.encode(formatCheckpointAssociatedData(name, seq), link))
  for (const { name, seq, value } of entries) {
    const associatedData = formatEntryAssociatedData(name, seq)
    const row = after.encode(associatedData, before.decode(associatedData, value))
    append.run(name, seq, row)
    const log = logs.get(name)
    if (!isSealed) {
      logs.set(name, { first: log?.first ?? seq, last: seq, link: firstLink })
      continue
    }
    if (!log && seq > 1) putLogCheckpoint(name, seq - 1, firstLink)
    const link = computeNextLink(log?.link ?? firstLink, row)
    if (seq % checkpointInterval === 0) putLogCheckpoint(name, seq, link)
    logs.set(name, { first: log?.first ?? seq, last: seq, link })
  }
  if (!isSealed) for (const [name, { first, last }] of logs) putLogCheckpoint(name, last, String(first))
  return logs
}

interface RewriteOptions {
  readonly version: number
  readonly rows: RawContent['rows']
  /** The codec of the current rows. */
  readonly codec: Codec
  /** Seals the new database; without it the new one is plain. */
  readonly seal: Seal | undefined
  /** Whether the database exists; false creates it. */
  readonly exists: boolean
}

/**
 * Writes a whole database in another format and replaces the old one atomically. Nobody may have it open.
 */
export const rewriteDatabase = async (
  file: string,
  { version, rows, codec: before, seal, exists }: RewriteOptions,
): Promise<void> => {
  const after = seal ? sealCodec(seal.dataKey) : plainCodec
  // SQLite must not replay the old write-ahead log into the new file.
  if (exists) checkpointWal(file)
  // Written first, because a sealed database without a counter is refused.
  if (seal) await writeCommitCount(file, seal.dataKey, 0, false)
  using source = exists ? new DatabaseSync(file, { readOnly: true }) : undefined
  await createDatabaseFile(file, version, database => {
    const sealed = new Map<string, Uint8Array>()
    const put = database.prepare('INSERT INTO kv VALUES (?, ?)')
    for (const [key, bytes] of rows) {
      const associatedData = formatDocumentAssociatedData(key)
      const row = after.encode(associatedData, before.decode(associatedData, bytes))
      put.run(key, row)
      sealed.set(key, row)
    }
    const selectEntries = 'SELECT name, seq, value FROM log ORDER BY name, seq'
    const entries = source ? prepareQuery<NamedEntryRow>(source, selectEntries).iterate() : []
    const logs = writeLogs(database, entries, [before, after], seal !== undefined)
    if (!seal) return
    const state = createSealState({ version, commits: 0, rows: sealed, logs }, createRowMac(seal.dataKey))
    const putSeal = database.prepare('INSERT INTO seal VALUES (?, ?)')
    putSeal.run(stateRow, after.encode('state', state.text()))
    for (const [at, wrappedKey] of seal.wrappedKeys.entries())
      putSeal.run(stateRow + 1 + at, Buffer.from(JSON.stringify(wrappedKey)))
  })
}

/** Creates an empty database with this version of the data; sealed when there are secrets. */
export const createDatabase = async (
  file: string,
  version: number,
  secrets: SealSecrets | undefined,
): Promise<void> => {
  const seal = secrets && (await createSeal(secrets))
  await rewriteDatabase(file, { version, rows: new Map(), codec: plainCodec, seal, exists: false })
}
