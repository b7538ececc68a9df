import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import { ServiceError } from '#lib/errors.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import { createStore } from './create-store.ts'
import { type Content, copyDatabase, createDatabase, type Database, openDatabase, readDatabase } from './database.ts'
import { type Envelope, envelopeOf } from './documents.ts'
import type { Row } from './keys.ts'
import { lockFolder } from './lock.ts'
import { type Migration, migrations as allMigrations } from './migrations.ts'
import { sqliteDriver } from './sqlite-driver.ts'
import type { Store } from './store.ts'

interface Options {
  readonly folder: string
  readonly migrations?: readonly Migration[]
}

const refuseNewer = (file: string, version: number, newest: number): void => {
  if (version > newest)
    throw new ServiceError(
      'unavailable',
      `The store ${file} was written by a newer vmhost (version ${version} of the data, this one knows ${newest}). Nothing was changed; start the newer one.`,
    )
}

const envelopesOf = (rows: ReadonlyMap<string, string>): ReadonlyMap<string, Envelope> =>
  new Map([...rows].map(([key, text]) => [key, envelopeOf(key, text)]))

/** Brings rows forward through every step in one transaction. A copy of what was is kept. */
const migrate = (
  file: string,
  database: Database,
  content: Content,
  steps: readonly Migration[],
): ReadonlyMap<string, string> => {
  const due = steps.filter(step => step.version > content.version)
  if (due.length === 0) return content.rows
  // A copy of the same name is of an earlier try, and this one is of what is about to change.
  copyDatabase(file, `${file}.before-${due.at(-1)!.version}`)
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
export const openStore = async ({ folder, migrations = allMigrations }: Options): Promise<Store> => {
  await makePrivateFolder(folder)
  using stack = new DisposableStack()
  const lock = stack.use(lockFolder(folder))
  const file = join(folder, 'store.db')
  const newest = migrations.at(-1)?.version ?? 1
  if (!existsSync(file)) createDatabase(file, newest)
  const content = readDatabase(file)
  refuseNewer(file, content.version, newest)
  const read = envelopesOf(content.rows)
  const database = stack.adopt(openDatabase(file), one => one.close())
  const rows = migrate(file, database, content, migrations)
  const envelopes = rows === content.rows ? read : envelopesOf(rows)
  const store = await createStore(createStorage({ driver: sqliteDriver(database) }), envelopes)
  stack.move()
  return {
    atomic: store.atomic,
    get failure() {
      return store.failure
    },
    collection: store.collection,
    log: store.log,
    commit: store.commit,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      lock[Symbol.dispose]()
    },
  }
}
