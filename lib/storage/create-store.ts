import type { Driver, Storage } from 'unstorage'
import { ServiceError } from '#lib/errors.ts'
import { createCollection } from './collection.ts'
import { type Change, createCommitQueue } from './commit-queue.ts'
import { decode, type Envelope, envelopeOf, rowOf } from './documents.ts'
import { isDocumentRow, isLogRow, keyOf, type LogRow, type Row, splitKey } from './keys.ts'
import { type LogReader, type OpenLog, openLog } from './log.ts'
import { memoryLogs } from './memory-logs.ts'
import type { DocumentWrite, Store, Stored, Write } from './store.ts'
import { createTable, type Table, type Undo } from './table.ts'

/** What a driver may offer beyond unstorage's methods: all rows or none, durable on return; and logs. */
export interface CommitDriver extends Driver {
  commit(rows: readonly (Row | LogRow)[]): void | Promise<void>
  readonly logs: LogReader
}

const commits = (driver: Driver): driver is CommitDriver => 'commit' in driver

const readAll = async (storage: Storage): Promise<Map<string, Envelope>> => {
  const keys = await storage.getKeys()
  const items = await storage.getItems(keys)
  return new Map(items.map(({ key, value }) => [key, envelopeOf(key, value)]))
}

const writeEach = async (storage: Storage, rows: readonly Row[]): Promise<void> => {
  for (const { key, value } of rows) {
    if (value === undefined) await storage.removeItem(key)
    else await storage.setItem(key, value)
  }
}

/**
 * The store over `storage`, which has one writer: this process. Documents stay decoded in memory.
 * @param rows what is stored, when the caller has read it already
 */
export const createStore = async (storage: Storage, rows?: ReadonlyMap<string, Envelope>): Promise<Store> => {
  const { driver } = storage.getMount('')
  const unclaimed = new Map(rows ?? (await readAll(storage)))
  const tables = new Map<string, Table<Stored>>()
  const logs = new Map<string, OpenLog<object>>()
  // A driver that writes row by row keeps no logs: those of its store end with it.
  const inMemory = memoryLogs()

  const tableOf = (collection: string): Table<Stored> => {
    const table = tables.get(collection)
    if (!table) throw new Error(`the collection ${collection} is not of this store`)
    return table
  }
  const carryOutDocument = ({ collection, id, expects, value }: DocumentWrite): { row: Row; undo: Undo } => {
    const table = tableOf(collection)
    const rev = table.get(id)?.rev ?? 0
    if (expects !== undefined && expects !== rev) throw stale(collection, id, rev)
    const document = value && Object.freeze({ ...value, id, rev: rev + 1 })
    return { row: rowOf(keyOf(collection, id), document), undo: table.set(id, document) }
  }
  const carryOut = (write: Write): { row: Row | LogRow; undo: Undo } => {
    if (!('log' in write)) return carryOutDocument(write)
    const log = logs.get(write.log)
    if (!log) throw new Error(`the log ${write.log} is not of this store`)
    return log.carryOut(write)
  }
  const apply = (writes: readonly Write[]): Change => {
    const done: { row: Row | LogRow; undo: Undo }[] = []
    const undo = (): void => done.toReversed().forEach(step => step.undo())
    try {
      for (const write of writes) done.push(carryOut(write))
    } catch (error) {
      undo()
      throw error
    }
    return { rows: done.map(({ row }) => row), undo }
  }
  const listeners = new Set<() => void>()
  const queue = createCommitQueue({
    apply,
    committed: () => listeners.forEach(listener => listener()),
    persist(all) {
      if (commits(driver)) return driver.commit(all)
      inMemory.write(all.filter(isLogRow))
      return writeEach(storage, all.filter(isDocumentRow))
    },
  })

  return {
    get failure() {
      return queue.stopped()
    },
    atomic: commits(driver),
    collection(name, schema, options = {}) {
      if (tables.has(name)) throw new Error(`the collection ${name} is already in use`)
      const table = createTable<(typeof schema)['_output'] & Stored>(name, options.unique)
      for (const [key, envelope] of unclaimed) {
        if (splitKey(key).collection !== name) continue
        table.set(envelope.id, decode(schema, key, envelope))
        unclaimed.delete(key)
      }
      tables.set(name, table)
      return createCollection({ name, schema, table, commit: queue.add })
    },
    log(name, schema) {
      if (logs.has(name)) throw new Error(`the log ${name} is already in use`)
      const opened = openLog(name, schema, commits(driver) ? driver.logs : inMemory)
      logs.set(name, opened)
      return opened.log
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

const stale = (collection: string, id: string, rev: number): ServiceError =>
  new ServiceError(
    'conflict',
    rev === 0
      ? `${collection}:${id} is not there any more. Read the list again.`
      : `${collection}:${id} was changed by somebody else meanwhile. Read it again and repeat the change.`,
  )
