import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkpointWal, createDatabaseFile } from '#lib/storage/database-file.ts'
import { openStore, getStoreFile } from '#lib/storage/open-store.ts'
import { newFolder } from '../../support/folder.ts'

/** 2 when a database is in WAL mode (SQLite file format, 1.3.3). The switch to WAL mode is itself a write with a journal. */
const writeVersion = (file: string): number => readFileSync(file)[18]!

test('a new store never has a journal that a read-only start could not roll back', async () => {
  using folder = newFolder()
  const file = getStoreFile(folder.path)
  await createDatabaseFile(file, 1, () => {})
  expect(writeVersion(file)).toBe(2)
  await (await openStore({ folder: folder.path }))[Symbol.asyncDispose]()
  checkpointWal(file)
  expect(writeVersion(file)).toBe(2)
})
