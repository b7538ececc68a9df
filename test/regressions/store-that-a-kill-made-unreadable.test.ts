import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { foldLog, writeDatabase } from '#lib/storage/database-file.ts'
import { openStore, storeFile } from '#lib/storage/open-store.ts'
import { newFolder } from '../support/folder.ts'

/** 2 when a database writes ahead (SQLite file format, 1.3.3): switching to that is itself a write with a journal. */
const writeVersion = (file: string): number => readFileSync(file)[18]!

test('a store never has a journal to roll back, which its reading at the start could not', async () => {
  using folder = newFolder()
  const file = storeFile(folder.path)
  writeDatabase(file, 1, () => {})
  expect(writeVersion(file)).toBe(2)
  await (await openStore({ folder: folder.path }))[Symbol.asyncDispose]()
  foldLog(file)
  expect(writeVersion(file)).toBe(2)
})
