import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { restoreStore } from '#lib/storage/copies/restore.ts'
import { firstSealed, firstSecrets } from '../../support/first-version.ts'
import { newFolder } from '../../support/folder.ts'
import { fillKept, openKept, readKept, storeSecrets as seal } from '../../support/kept-store.ts'
import { until } from '../../support/waiting.ts'

const idsIn = async (folder: string, secrets = seal): Promise<readonly string[]> =>
  ((await readKept(folder, secrets)) as [readonly { id: string }[]])[0].map(({ id }) => id)

test('an older encrypted store that is put back by hand is refused until it is accepted with a restore', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'store.db')
  const first = await openKept(folder.path, seal)
  await fillKept(first, 2)
  await first.store[Symbol.asyncDispose]()
  const older = readFileSync(file)
  const second = await openKept(folder.path, seal)
  await fillKept(second, 3, 2)
  const backup = join(folder.path, 'backup.db')
  await second.store.backup(backup)
  await fillKept(second, 1, 5)
  await second.store[Symbol.asyncDispose]()
  expect(await idsIn(folder.path)).toHaveLength(6)

  writeFileSync(file, older)
  await expect(readKept(folder.path, seal)).rejects.toThrow('is not the one that was here last')
  expect(readFileSync(file).equals(older)).toBe(true)
  // A store without a valid commit counter is refused too.
  const counter = readFileSync(`${file}.commits`)
  rmSync(`${file}.commits`)
  await expect(readKept(folder.path, seal)).rejects.toThrow('does not say how old')
  for (const damage of ['', '[]', counter.toString().replace(/"commits":\d+/, '"commits":1')]) {
    writeFileSync(`${file}.commits`, damage)
    await expect(readKept(folder.path, seal)).rejects.toThrow('does not say how old')
  }
  writeFileSync(`${file}.commits`, counter)

  // Do what the message says, and then restore a backup.
  const files = readdirSync(folder.path)
  expect(await restoreStore(folder.path, file, seal)).toEqual({ sealed: true, replacedCopy: undefined })
  expect(readdirSync(folder.path).filter(name => !files.includes(name))).toEqual(['restored'])
  expect(await idsIn(folder.path)).toEqual(['i0', 'i1'])
  await restoreStore(folder.path, backup, seal)
  expect(await idsIn(folder.path)).toHaveLength(5)
})

test('a copied state folder opens and can be used', async () => {
  using folder = newFolder()
  using copy = newFolder()
  const opened = await openKept(folder.path, seal)
  await fillKept(opened, 4)
  await opened.store[Symbol.asyncDispose]()
  cpSync(folder.path, copy.path, { recursive: true })
  expect(await idsIn(copy.path)).toHaveLength(4)
  expect(await idsIn(folder.path)).toHaveLength(4)
})

test('the commit counter is written while the store is in use, because it may be killed', async () => {
  using folder = newFolder()
  using older = newFolder()
  const opened = await openKept(folder.path, seal)
  const before = readFileSync(join(folder.path, 'store.db.commits'), 'utf8')
  await opened.store.backup(join(older.path, 'store.db'))
  await fillKept(opened, 3)
  await until(() => expect(readFileSync(join(folder.path, 'store.db.commits'), 'utf8')).not.toBe(before))
  copyFileSync(join(folder.path, 'store.db.commits'), join(older.path, 'store.db.commits'))
  await opened.store[Symbol.asyncDispose]()
  await expect(readKept(older.path, seal)).rejects.toThrow('is not the one that was here last')
})

test('an older encrypted store of an earlier version is refused too', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'store.db')
  writeFileSync(file, firstSealed())
  const opened = await openKept(folder.path, firstSecrets)
  await fillKept(opened, 2, 10)
  await opened.store[Symbol.asyncDispose]()
  copyFileSync(`${file}.before-3`, file)
  await expect(readKept(folder.path, firstSecrets)).rejects.toThrow(
    /is not the one that was here last: it is of a version that counts no commits, .* there were \d+ at least\. .* vmhost storage restore/,
  )
  // The same as after a downgrade and an upgrade: do what the message says.
  await restoreStore(folder.path, file, firstSecrets)
  expect(await idsIn(folder.path, firstSecrets)).toEqual(['i0', 'i1', 'i2', 'i3'])
  await restoreStore(folder.path, `${file}.before-3`, firstSecrets)
  expect(await idsIn(folder.path, firstSecrets)).toEqual(['i0', 'i1', 'i2', 'i3'])
})

test('an entry from an older copy of the same store is noticed', async () => {
  using folder = newFolder()
  using other = newFolder()
  const opened = await openKept(folder.path, seal)
  const { store, log } = opened
  await fillKept(opened, 1)
  await store.backup(join(other.path, 'store.db'))
  const add = (text: string) =>
    store.commit(Array.from({ length: 1_200 }, (_, at) => log.append(() => ({ text: `${text} ${at}` }))))
  await add('here')
  await store[Symbol.asyncDispose]()
  // After a restore the same sequence numbers are used for other entries.
  await restoreStore(other.path, join(other.path, 'store.db'), seal)
  const there = await openKept(other.path, seal)
  await there.store.commit(Array.from({ length: 1_200 }, (_, at) => there.log.append(() => ({ text: `there ${at}` }))))
  await there.store[Symbol.asyncDispose]()
  const swap = (seq: number): void => {
    using database = new DatabaseSync(join(folder.path, 'store.db'))
    using from = new DatabaseSync(join(other.path, 'store.db'))
    const { value } = from.prepare('SELECT value FROM log WHERE seq = ?').get(seq) as { value: Uint8Array }
    database.prepare('UPDATE log SET value = ? WHERE seq = ?').run(value, seq)
  }
  swap(500)
  const again = await openKept(folder.path, seal)
  await until(() => expect(again.store.damage).toContain('is not of this copy'))
  await again.store[Symbol.asyncDispose]()
  swap(1_150)
  await expect(readKept(folder.path, seal)).rejects.toThrow('not as the last commit left it')
  expect(existsSync(join(folder.path, 'store.db'))).toBe(true)
})
