import type { Row } from './keys.ts'

/** A step from one version of what is stored to the next. Pure: it is given every row and says what changes. */
export interface Migration {
  /** The version that this step leads to. */
  readonly version: number
  readonly name: string
  migrate(rows: ReadonlyMap<string, string>): readonly Row[]
}

/** Every step since the first version, which is 1. A step that was released is never changed. */
export const migrations: readonly Migration[] = []
