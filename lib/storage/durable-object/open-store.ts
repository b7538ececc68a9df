import { createStorage } from 'unstorage'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createStore } from '../create-store.ts'
import { parseRows } from '../documents.ts'
import { createDurableObjectDriver, type DurableObjectDriver } from './driver.ts'
import type { DurableObjectStorage } from './sql.ts'
import { findNewestVersion, type Migration, migrateRows, migrations as allMigrations } from '../migrations.ts'
import type { Store } from '../store.ts'

const readAll = (driver: DurableObjectDriver): ReadonlyMap<string, string> => {
  try {
    return driver.readAll()
  } catch (error) {
    throw new ServiceError(
      'unavailable',
      `The store cannot be read: ${messageOf(error)}. Nothing was changed; restore it to an earlier point in time.`,
      { cause: error },
    )
  }
}

/**
 * Opens the store of a Durable Object, which is its only writer. Throws `unavailable` when a document is damaged, or when a
 * newer program has written the store; nothing is changed then.
 */
export const openDurableObjectStore = async (
  storage: DurableObjectStorage,
  migrations: readonly Migration[] = allMigrations,
): Promise<Store> => {
  const driver = createDurableObjectDriver(storage)
  const newest = findNewestVersion(migrations)
  const version = driver.version()
  if (version !== undefined && version > newest)
    throw new ServiceError(
      'unavailable',
      `The store was written by a newer vmhost (version ${version} of the data, this one knows ${newest}). Nothing was changed; deploy the newer one.`,
    )
  const rows = readAll(driver)
  // The documents must be valid before anything is written.
  const documents = parseRows(rows)
  const migrated = migrateRows(rows, version ?? newest, migrations)
  if (migrated) driver.setVersion(migrated.changed, migrated.version)
  else if (version === undefined) driver.setVersion([], newest)
  return createStore(createStorage({ driver }), migrated ? parseRows(migrated.rows) : documents)
}
