import { existsSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import { createStore } from './create-store.ts'
import { type Database, openDatabase, type Reading } from './database.ts'
import { copyDatabase, refuseLeftLog } from './database-file.ts'
import { type Envelope, envelopeOf } from './documents.ts'
import type { Row } from './keys.ts'
import { lockFolder } from './lock.ts'
import { type Migration, migrations as allMigrations } from './migrations.ts'
import { sqliteDriver } from './sqlite-driver.ts'
import type { Store } from './store.ts'
import { createDatabase, unlock, type Unlocked } from './unlock.ts'
import { isFor, type SealSecrets, type Wrap, wrapDataKey } from './wrap.ts'

interface Options {
  readonly folder: string
  readonly migrations?: readonly Migration[]
  /** Seals the store, and opens a sealed one. Asked for when the folder is this process's alone. */
  readonly seal?: (() => Promise<SealSecrets>) | undefined
}

/** A store on disk. */
export interface OpenedStore extends Store {
  readonly sealed: boolean
  /** Where a copy of the plain database was left, when this start sealed it. */
  readonly plainCopy: string | undefined
  /** What another process reads the logs by. */
  readonly reading: Reading
  /** Copies what is committed into a new file, while the store is in use. */
  backup(file: string): Promise<void>
  /** Makes another private key open the store too, so that it can be put in place. */
  admitKey(privateKey: KeyObject): Promise<void>
  /** Makes this private key the only one that opens the store. */
  keepOnlyKey(privateKey: KeyObject): Promise<void>
}

/** The file of the store in its folder. */
export const storeFile = (folder: string): string => join(folder, 'store.db')

/** Throws `unavailable` for a store of a program that knows more versions of the data than this one. */
export const refuseNewer = (file: string, version: number, newest: number): void => {
  if (version > newest)
    throw new ServiceError(
      'unavailable',
      `The store ${file} was written by a newer vmhost (version ${version} of the data, this one knows ${newest}). Nothing was changed; start the newer one.`,
    )
}

const envelopesOf = (rows: ReadonlyMap<string, string>): ReadonlyMap<string, Envelope> =>
  new Map([...rows].map(([key, text]) => [key, envelopeOf(key, text)]))

/** Brings rows forward through every step in one transaction. A copy of what was is kept. */
const migrate = async (
  file: string,
  database: Database,
  content: Pick<Unlocked, 'version' | 'rows'>,
  steps: readonly Migration[],
): Promise<ReadonlyMap<string, string>> => {
  const due = steps.filter(step => step.version > content.version)
  if (due.length === 0) return content.rows
  // A copy of the same name is of an earlier try, and this one is of what is about to change.
  await copyDatabase(file, `${file}.before-${due.at(-1)!.version}`)
  const rows = new Map(content.rows)
  const changed = new Map<string, Row>()
  for (const step of due)
    for (const row of step.migrate(rows)) {
      changed.set(row.key, row)
      if (row.value === undefined) rows.delete(row.key)
      else rows.set(row.key, row.value)
    }
  database.setVersion([...changed.values()], due.at(-1)!.version)
  return rows
}

/**
 * Opens the store in `folder` (`store.db`) as its one writer, and makes it when it is not there.
 * Throws `conflict` when another process has it, `unavailable` when it cannot be read; nothing is changed then.
 */
export const openStore = async ({ folder, migrations = allMigrations, seal }: Options): Promise<OpenedStore> => {
  await makePrivateFolder(folder)
  using stack = new DisposableStack()
  const lock = stack.use(lockFolder(folder))
  const file = storeFile(folder)
  const newest = migrations.at(-1)?.version ?? 1
  if (!existsSync(file)) {
    refuseLeftLog(file)
    await createDatabase(file, newest, await seal?.())
  }
  const secrets = await seal?.()
  const content = await unlock(file, secrets)
  refuseNewer(file, content.version, newest)
  const read = envelopesOf(content.rows)
  const database = stack.adopt(openDatabase(file, content), one => one.close())
  const rows = await migrate(file, database, content, migrations)
  const envelopes = rows === content.rows ? read : envelopesOf(rows)
  // More than one is there after a change of the private key that did not come to its end.
  if (content.wraps.length > 1) database.setWraps(content.wraps.filter(wrap => isFor(wrap, secrets!.privateKey)))
  const store = await createStore(createStorage({ driver: sqliteDriver(database) }), envelopes)
  stack.move()

  let { wraps } = content
  const setWraps = (next: readonly Wrap[]): void => {
    database.setWraps(next)
    wraps = next
  }
  return {
    atomic: store.atomic,
    get failure() {
      return store.failure
    },
    sealed: content.dataKey !== undefined,
    plainCopy: content.plainCopy,
    reading: { file, dataKey: content.dataKey },
    collection: store.collection,
    log: store.log,
    onCommit: store.onCommit,
    commit: store.commit,
    backup: to => copyDatabase(file, to),
    async admitKey(privateKey) {
      if (content.dataKey) setWraps([...wraps, await wrapDataKey(content.dataKey, { ...secrets!, privateKey })])
    },
    async keepOnlyKey(privateKey) {
      if (content.dataKey) setWraps(wraps.filter(wrap => isFor(wrap, privateKey)))
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      lock[Symbol.dispose]()
    },
  }
}
