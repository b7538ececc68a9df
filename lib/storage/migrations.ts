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
