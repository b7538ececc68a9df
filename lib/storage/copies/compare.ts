import { readAndCleanUp } from '../database-file.ts'
import { splitKey } from '../keys.ts'
import { migrateRows, migrations, findNewestVersion } from '../migrations.ts'
import { getStoreFile } from '../open-store.ts'
import { verifyDatabase, type VerifiedContent } from '../prepare-database.ts'
import { verifyCopy } from './verify.ts'
import type { SealSecrets } from '../wrapped-key.ts'

/** What has changed in one collection of the store since a copy was made, as numbers of documents. */
export interface CollectionChange {
  readonly collection: string
  readonly added: number
  readonly changed: number
  readonly deleted: number
}

/** What a restore of a copy takes back. */
export interface ChangesSinceCopy {
  /** Collections that have changed, by name. */
  readonly collections: readonly CollectionChange[]
  /** Entries of logs that the copy does not have, by the name of the log. */
  readonly entries: readonly { readonly log: string; readonly count: number }[]
}

type Rows = ReadonlyMap<string, string>

/** The rows as a start of this version leaves them. So a migration is no change. */
const readRows = ({ rows, version }: VerifiedContent): Rows => migrateRows(rows, version, migrations)?.rows ?? rows

const countChanges = (present: Rows, copied: Rows): readonly CollectionChange[] => {
  const changes = new Map<string, { added: number; changed: number; deleted: number }>()
  for (const key of new Set([...present.keys(), ...copied.keys()])) {
    const [now, before] = [present.get(key), copied.get(key)]
    if (now === before) continue
    const { collection } = splitKey(key)
    const counts = changes.get(collection) ?? { added: 0, changed: 0, deleted: 0 }
    counts[before === undefined ? 'added' : now === undefined ? 'deleted' : 'changed'] += 1
    changes.set(collection, counts)
  }
  return [...changes]
    .map(([collection, counts]) => ({ collection, ...counts }))
    .toSorted((a, b) => (a.collection < b.collection ? -1 : 1))
}

/**
 * Compares the store in a folder with a copy of it. It changes neither, and a service may run. Throws `unavailable` if the store cannot
 * be read, and what `verifyCopy` throws.
 */
export const compareWithCopy = async (
  folder: string,
  copy: string,
  secrets: SealSecrets | undefined,
): Promise<ChangesSinceCopy> => {
  const copied = await readAndCleanUp(copy, () => verifyCopy(copy, secrets))
  const file = getStoreFile(folder)
  const present = await readAndCleanUp(file, () => verifyDatabase(file, secrets, findNewestVersion(migrations)))
  return {
    collections: countChanges(readRows(present), readRows(copied)),
    entries: [...present.logs]
      .map(([log, { last }]) => ({ log, count: last - (copied.logs.get(log)?.last ?? 0) }))
      .filter(({ count }) => count > 0),
  }
}
