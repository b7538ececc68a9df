import { existsSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import { makePrivateFolder, removeUnfinished } from '#lib/platform/files.ts'
import { openCommitCounter } from './commit-counter.ts'
import { createStore } from './create-store.ts'
import type { LogAccess } from './database.ts'
import { copyDatabase, refuseOrphanedWal } from './database-file.ts'
import { parseRows } from './documents.ts'
import { lockFolder } from './lock.ts'
import { type Migration, migrations as allMigrations, findNewestVersion, migrateRows } from './migrations.ts'
import { verifyLogsInBackground } from './verify-logs.ts'
import { noReserve, openReserve } from './reserve.ts'
import { createDatabase } from './rewrite.ts'
import { createSqliteDriver } from './sqlite-driver.ts'
import type { Store } from './store.ts'
import { prepareDatabase } from './prepare-database.ts'
import { isWrappedFor, type SealSecrets, type WrappedKey, wrapDataKey } from './wrapped-key.ts'
import { openWriter, type Writer } from './writer.ts'

interface Options {
  readonly folder: string
  readonly migrations?: readonly Migration[]
  /** Gives the secrets that seal the store and open a sealed one. Called after the folder is locked. */
  readonly seal?: (() => Promise<SealSecrets>) | undefined
  /** Bytes of disk space that are reserved for essential commits; none by default. */
  readonly reserve?: number
}

/** A store on disk. */
export interface OpenedStore extends Store {
  readonly sealed: boolean
  /** The path of a copy of the plain database, when this start sealed it. */
  readonly plainCopy: string | undefined
  /** What another process needs to read the logs. */
  readonly logAccess: LogAccess
  /** Copies the committed content into a new file while the store is in use. */
  backup(file: string): Promise<void>
  /** Wraps the data key for another private key too. Call it before that key replaces the current one. */
  addKey(privateKey: KeyObject): Promise<void>
  /** Removes the wrapped data keys of all other private keys. */
  removeOtherKeys(privateKey: KeyObject): Promise<void>
}

/** The file of the store in its folder. */
export const getStoreFile = (folder: string): string => join(folder, 'store.db')

/**
 * Opens the store in `folder` (`store.db`) as its only writer. Creates it when it does not exist. Throws `conflict` when
 * another process has it open and `unavailable` when it cannot be read; nothing is changed then.
 */
export const openStore = async ({
  folder,
  migrations = allMigrations,
  seal,
  reserve: reserveSize,
}: Options): Promise<OpenedStore> => {
  await makePrivateFolder(folder)
  await using stack = new AsyncDisposableStack()
  stack.use(lockFolder(folder))
  await removeUnfinished(folder)
  const file = getStoreFile(folder)
  const reserve = reserveSize === undefined ? noReserve : stack.use(openReserve(`${file}.reserve`, reserveSize))
  const newest = findNewestVersion(migrations)
  if (!existsSync(file)) {
    refuseOrphanedWal(file)
    await createDatabase(file, newest, await seal?.())
  }
  const secrets = await seal?.()
  const content = await prepareDatabase(file, secrets, newest)
  const read = parseRows(content.rows)
  const { dataKey } = content
  const counter = dataKey && stack.use(openCommitCounter(file, dataKey, () => database.commits()))
  const database: Writer = stack.adopt(openWriter(file, content, reserve, counter), one => one.close())
  const migrated = migrateRows(content.rows, content.version, migrations)
  if (migrated) database.setVersion(migrated.changed, migrated.version)
  const documents = migrated ? parseRows(migrated.rows) : read
  // There is more than one after an interrupted change of the private key.
  if (secrets && content.wrappedKeys.length > 1)
    database.setWrappedKeys(content.wrappedKeys.filter(wrappedKey => isWrappedFor(wrappedKey, secrets.privateKey)))
  const store = await createStore(createStorage({ driver: createSqliteDriver(database) }), documents)
  const { reportDamage: onDamage } = store
  stack.use(verifyLogsInBackground({ logs: content.logs, reader: database.logs, verify: database.verify, onDamage }))
  const opened = stack.move()

  let { wrappedKeys } = content
  const setWrappedKeys = (next: readonly WrappedKey[]): void => {
    database.setWrappedKeys(next)
    wrappedKeys = next
  }
  return {
    atomic: store.atomic,
    get failure() {
      return store.failure
    },
    get damage() {
      return store.damage
    },
    hasRoomForFollowUp: store.hasRoomForFollowUp,
    sealed: content.dataKey !== undefined,
    plainCopy: content.plainCopy,
    logAccess: { file, dataKey: content.dataKey },
    collection: store.collection,
    log: store.log,
    texts: store.texts,
    onCommit: store.onCommit,
    commit: store.commit,
    backup: to => copyDatabase(file, to),
    async addKey(privateKey) {
      if (content.dataKey && secrets)
        setWrappedKeys([...wrappedKeys, await wrapDataKey(content.dataKey, { ...secrets, privateKey })])
    },
    async removeOtherKeys(privateKey) {
      if (content.dataKey) setWrappedKeys(wrappedKeys.filter(wrappedKey => isWrappedFor(wrappedKey, privateKey)))
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await opened.disposeAsync()
    },
  }
}
