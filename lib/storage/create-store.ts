import type { Driver, Storage } from 'unstorage'
import { ServiceError } from '#lib/errors.ts'
import { createCollection } from './collection.ts'
import { type AppliedCommit, createCommitQueue } from './commit-queue.ts'
import { decodeDocument, type RawDocument, parseRawDocument, toRow } from './documents.ts'
import { toKey, splitKey } from './keys.ts'
import { isDocumentRow, isLogRow, type DocumentRow, type Row } from './rows.ts'
import { type LogReader, type OpenLog, openLog } from './log.ts'
import { createMemoryLogs } from './memory-logs.ts'
import type { DocumentWrite, Store, Stored, Write } from './store.ts'
import { createTexts } from './texts.ts'
import { createTable, type Table, type Undo } from './table.ts'

/** A driver that offers atomic, durable commits and logs in addition to unstorage's methods. */
export interface CommitDriver extends Driver {
  commit(rows: readonly Row[], essential: boolean): void | Promise<void>
  readonly logs: LogReader
  /** Why the store takes only essential commits now; undefined when it takes all. */
  shortage(): string | undefined
  /** Whether there is room for the essential commit that a call which starts now will make later. */
  hasRoomForFollowUp(essential: boolean): boolean
}

/** A store that its creator can report damage to. */
export interface CreatedStore extends Store {
  /** Records damage, which `damage` then shows. The first report wins. */
  reportDamage(what: string): void
}

const isCommitDriver = (driver: Driver): driver is CommitDriver => 'commit' in driver

const readAllDocuments = async (storage: Storage): Promise<Map<string, RawDocument>> => {
  const keys = await storage.getKeys()
  const items = await storage.getItems(keys)
  return new Map(items.map(({ key, value }) => [key, parseRawDocument(key, value)]))
}

const writeEach = async (storage: Storage, rows: readonly DocumentRow[]): Promise<void> => {
  for (const { key, value } of rows) {
    if (value === undefined) await storage.removeItem(key)
    else await storage.setItem(key, value)
  }
}

/**
 * Makes the store over `storage`. This process must be its only writer. Documents stay decoded in memory.
 * @param rows the stored documents, if the caller has read them already
 */
export const createStore = async (storage: Storage, rows?: ReadonlyMap<string, RawDocument>): Promise<CreatedStore> => {
  const { driver } = storage.getMount('')
  const unclaimed = new Map(rows ?? (await readAllDocuments(storage)))
  const tables = new Map<string, Table<Stored>>()
  const logs = new Map<string, OpenLog<object>>()
  // A driver without commits has no logs. They are held in memory and are lost when the store is closed.
  const fallbackLogs = createMemoryLogs()

  const getTable = (collection: string): Table<Stored> => {
    const table = tables.get(collection)
    if (!table) throw new Error(`the store has no collection ${collection}`)
    return table
  }
  const applyDocumentWrite = ({
    collection,
    id,
    expectedRev,
    value,
  }: DocumentWrite): { row: DocumentRow; undo: Undo } => {
    const table = getTable(collection)
    const rev = table.get(id)?.rev ?? 0
    if (expectedRev !== undefined && expectedRev !== rev) throw createStaleRevisionError(collection, id, rev)
    const document = value && Object.freeze({ ...value, id, rev: rev + 1 })
    return { row: toRow(toKey(collection, id), document), undo: table.set(id, document) }
  }
  const applyWrite = (write: Write): { row: Row; undo: Undo } => {
    if ('texts' in write) {
      const { texts, id, text } = write
      // Texts are not held in memory, so there is nothing to undo.
      return { row: toRow(toKey(texts, id), text === undefined ? undefined : { id, rev: 1, text }), undo: () => {} }
    }
    if (!('log' in write)) return applyDocumentWrite(write)
    const log = logs.get(write.log)
    if (!log) throw new Error(`the store has no log ${write.log}`)
    return log.applyWrite(write)
  }
  const apply = (writes: readonly Write[]): AppliedCommit => {
    const applied: { row: Row; undo: Undo }[] = []
    const undo = (): void => applied.toReversed().forEach(step => step.undo())
    try {
      for (const write of writes) applied.push(applyWrite(write))
    } catch (error) {
      undo()
      throw error
    }
    return { rows: applied.map(({ row }) => row), undo }
  }
  let damage: string | undefined
  const reportDamage = (what: string): void => void (damage ??= what)
  const listeners = new Set<() => void>()
  const queue = createCommitQueue({
    apply,
    onCommitted: () => listeners.forEach(listener => listener()),
    persist(all, essential) {
      if (isCommitDriver(driver)) return driver.commit(all, essential)
      fallbackLogs.write(all.filter(isLogRow))
      return writeEach(storage, all.filter(isDocumentRow))
    },
  })

  return {
    get failure() {
      return queue.stopReason() ?? (isCommitDriver(driver) ? driver.shortage() : undefined)
    },
    get damage() {
      return damage
    },
    reportDamage,
    hasRoomForFollowUp: essential =>
      queue.stopReason() === undefined && (!isCommitDriver(driver) || driver.hasRoomForFollowUp(essential)),
    atomic: isCommitDriver(driver),
    collection(name, schema, options = {}) {
      if (tables.has(name)) throw new Error(`the collection ${name} is already in use`)
      const table = createTable<(typeof schema)['_output'] & Stored>(name, options.unique)
      for (const [key, envelope] of unclaimed) {
        if (splitKey(key).collection !== name) continue
        table.set(envelope.id, decodeDocument(schema, key, envelope))
        unclaimed.delete(key)
      }
      tables.set(name, table)
      return createCollection({ name, schema, table, commit: queue.add })
    },
    log(name, schema) {
      if (logs.has(name)) throw new Error(`the log ${name} is already in use`)
      const opened = openLog(name, schema, isCommitDriver(driver) ? driver.logs : fallbackLogs, reportDamage)
      logs.set(name, opened)
      return opened.log
    },
    texts(name) {
      if (tables.has(name)) throw new Error(`the collection ${name} is already in use`)
      tables.set(name, createTable(name))
      for (const key of unclaimed.keys()) if (splitKey(key).collection === name) unclaimed.delete(key)
      return createTexts(name, storage)
    },
    onCommit(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    commit: queue.add,
    async [Symbol.asyncDispose]() {
      await queue.close()
      await storage.dispose()
    },
  }
}

const createStaleRevisionError = (collection: string, id: string, rev: number): ServiceError =>
  new ServiceError(
    'conflict',
    rev === 0
      ? `${collection}:${id} is not there any more. Read the list again.`
      : `${collection}:${id} was changed by somebody else meanwhile. Read it again and repeat the change.`,
  )
