import type { DocumentRow } from './rows.ts'
import { moveContents } from './move-contents.ts'

/** A step from one version of the stored data to the next. It is pure: it gets every row and gives the changed ones. */
export interface Migration {
  /** The version that this step leads to. */
  readonly version: number
  readonly name: string
  migrate(rows: ReadonlyMap<string, string>): readonly DocumentRow[]
}

/** Every migration since version 1. A released migration is never changed. */
export const migrations: readonly Migration[] = [
  {
    version: 2,
    // `prepareDatabase` converts the format of the rows before any migration. Their content stays.
    name: 'rows carry a checksum, sealed logs are linked',
    migrate: () => [],
  },
  { version: 3, name: 'the contents of manifests stay on disk', migrate: moveContents },
]

/** The version of a store after these migrations. */
export const findNewestVersion = (steps: readonly Migration[]): number => steps.at(-1)?.version ?? 1

/** Rows after migrations. */
interface MigratedRows {
  readonly rows: ReadonlyMap<string, string>
  /** The rows to write. */
  readonly changed: readonly DocumentRow[]
  readonly version: number
}

/** Applies the migrations that are due to rows of a version, in memory. Gives undefined if none is due. */
export const migrateRows = (
  before: ReadonlyMap<string, string>,
  version: number,
  steps: readonly Migration[],
): MigratedRows | undefined => {
  const due = steps.filter(step => step.version > version)
  if (due.length === 0) return undefined
  const rows = new Map(before)
  const changed = new Map<string, DocumentRow>()
  for (const step of due)
    for (const row of step.migrate(rows)) {
      changed.set(row.key, row)
      if (row.value === undefined) rows.delete(row.key)
      else rows.set(row.key, row.value)
    }
  return { rows, changed: [...changed.values()], version: findNewestVersion(due) }
}
