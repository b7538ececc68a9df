import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { migrations } from '#lib/storage/migrations.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { restoreStore } from '#lib/storage/copies/restore.ts'
import { firstPlain, firstSealed, firstSecrets } from '../../support/first-version.ts'
import { newFolder } from '../../support/folder.ts'
import { fillKept, openKept, readKept, storeSecrets } from '../../support/kept-store.ts'

const content = [
  [0, 1, 2, 3].map(at => ({ id: `i${at}`, value: `value ${at}`, rev: 1 })),
  [3, 4, 5].map(seq => ({ seq, text: `entry ${seq - 1}` })),
]

describe.for([
  ['plain', firstPlain, undefined],
  ['encrypted', firstSealed, firstSecrets],
] as const)('a store of the first version (%s)', ([, first, seal]) => {
  test('is upgraded once, with a copy of the older store, and can be used', async () => {
    using folder = newFolder()
    const file = join(folder.path, 'store.db')
    writeFileSync(file, first())
    expect(await readKept(folder.path, seal)).toEqual(content)
    const copy = `${file}.before-3`
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    using kept = new DatabaseSync(copy, { readOnly: true })
    expect(kept.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 })
    kept.close()
    const before = readFileSync(copy)
    const opened = await openKept(folder.path, seal)
    await fillKept(opened, 1_100, 10)
    await opened.store.commit([opened.log.forget(7)])
    await opened.store[Symbol.asyncDispose]()
    expect(readFileSync(copy).equals(before)).toBe(true)
    const [items, entries] = (await readKept(folder.path, seal)) as [readonly unknown[], readonly { seq: number }[]]
    expect([items.length, entries.length, entries[0]!.seq]).toEqual([1_104, 1_098, 8])
    // The restore command brings the older store back.
    await restoreStore(folder.path, copy, seal)
    expect(await readKept(folder.path, seal)).toEqual(content)
  })

  test('that is damaged is refused before anything is changed', async () => {
    using folder = newFolder()
    const file = join(folder.path, 'store.db')
    for (const sql of [
      "UPDATE log SET value = CAST('x' AS BLOB) WHERE seq = 4",
      "UPDATE kv SET value = CAST('{' AS BLOB) WHERE key = 'items:i1'",
      'DELETE FROM log WHERE seq = 4',
      'PRAGMA user_version = 0',
    ]) {
      writeFileSync(file, first())
      const database = new DatabaseSync(file)
      database.exec(sql)
      database.close()
      const damaged = readFileSync(file)
      await expect(readKept(folder.path, seal), sql).rejects.toThrow(/cannot be read|not as the last commit/)
      expect(readFileSync(file).equals(damaged), sql).toBe(true)
      expect(existsSync(`${file}.before-3`)).toBe(false)
    }
  })
})

test('a plain store of the first version is upgraded and encrypted at the same start', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'store.db')
  writeFileSync(file, firstPlain())
  expect(await readKept(folder.path, storeSecrets)).toEqual(content)
  expect([existsSync(`${file}.before-3`), existsSync(`${file}.plain`)]).toEqual([true, true])
})

test('the error for a newer store names the copy that was made before its upgrade', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'store.db')
  await (await openKept(folder.path, undefined)).store[Symbol.asyncDispose]()
  const next = { version: 4, name: 'to come', migrate: () => [] }
  await (await openStore({ folder: folder.path, migrations: [...migrations, next] }))[Symbol.asyncDispose]()
  const newer = readFileSync(file)
  await expect(readKept(folder.path, undefined)).rejects.toThrow(
    `was written by a newer vmhost (version 4 of the data, this one knows 3). Nothing was changed; start the newer one, or go back to what was there before it came: vmhost storage restore ${file}.before-4`,
  )
  expect(readFileSync(file).equals(newer)).toBe(true)
  await restoreStore(folder.path, `${file}.before-4`, undefined)
  expect(await readKept(folder.path, undefined)).toEqual([[], []])
})
