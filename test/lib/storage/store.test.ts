import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createStorage } from 'unstorage'
import { createStore } from '#lib/storage/create-store.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { migrations, findNewestVersion } from '#lib/storage/migrations.ts'
import { openStore, getStoreFile } from '#lib/storage/open-store.ts'
import { prepareDatabase } from '#lib/storage/prepare-database.ts'
import { noReserve } from '#lib/storage/reserve.ts'
import { createDatabase } from '#lib/storage/rewrite.ts'
import { createSqliteDriver } from '#lib/storage/sqlite-driver.ts'
import { openWriter } from '#lib/storage/writer.ts'
import { storeContract } from '../../contracts/store.ts'

storeContract('memory', async () => ({ open: createMemoryStore, durable: false, close: async () => {} }))

const folderOf = (): Promise<string> => mkdtemp(join(tmpdir(), 'vmhost-store-'))

storeContract('SQLite', async () => {
  const folder = await folderOf()
  return { open: () => openStore({ folder }), durable: true, close: () => rm(folder, { recursive: true }) }
})

const version = findNewestVersion(migrations)
/** The driver of the database in a folder. */
const openDriver = async (folder: string) => {
  const file = getStoreFile(folder)
  return createSqliteDriver(openWriter(file, await prepareDatabase(file, undefined, version), noReserve, undefined))
}

storeContract('SQLite, with nothing but createStorage({ driver })', async () => {
  const folder = await folderOf()
  await createDatabase(getStoreFile(folder), version, undefined)
  return {
    open: async () => createStore(createStorage({ driver: await openDriver(folder) })),
    durable: true,
    close: () => rm(folder, { recursive: true }),
  }
})

test('the SQLite driver is a driver of unstorage: what its own methods write, a commit reads, and the other way round', async () => {
  const folder = await folderOf()
  await createDatabase(getStoreFile(folder), version, undefined)
  const driver = await openDriver(folder)
  const storage = createStorage({ driver })
  await storage.setItem('items:a', { id: 'a', rev: 1 })
  await driver.commit([{ key: 'items:b', value: '{"id":"b","rev":1}' }], false)
  expect((await storage.getKeys()).toSorted()).toEqual(['items:a', 'items:b'])
  expect(await storage.getKeys('items')).toHaveLength(2)
  expect(await storage.getItem('items:b')).toEqual({ id: 'b', rev: 1 })
  await driver.commit([{ key: 'items:a', value: undefined }], false)
  expect(await storage.hasItem('items:a')).toBe(false)
  await storage.removeItem('items:b')
  expect(await storage.getItem('items:b')).toBeNull()
  await storage.dispose()
  await rm(folder, { recursive: true })
})

const Item = z.object({ id: z.string(), value: z.string() })

describe('the store on disk', () => {
  let folder: string
  beforeEach(async () => {
    folder = await folderOf()
  })
  afterEach(() => rm(folder, { recursive: true }))

  const file = (): string => join(folder, 'store.db')
  const fill = async (count = 50): Promise<void> => {
    await using store = await openStore({ folder })
    const items = store.collection('items', Item)
    await store.commit(Array.from({ length: count }, (_, at) => items.put({ id: `i${at}`, value: 'v'.repeat(200) })))
  }
  /** The content of the files that hold data; the lock and SQLite's shared memory hold none. */
  const bytes = async (): Promise<Record<string, string>> => {
    const names = (await readdir(folder)).filter(name => !/lock|-shm$/.test(name) && name !== 'store.db-wal')
    return Object.fromEntries(
      await Promise.all(
        names.map(async name => [name, (await readFile(join(folder, name))).toString('base64')] as const),
      ),
    )
  }
  const refusesUntouched = async (told: string | RegExp): Promise<void> => {
    const before = await bytes()
    await expect(openStore({ folder })).rejects.toThrow(told)
    expect(await bytes()).toEqual(before)
  }

  test('is readable only by its owner', async () => {
    await fill()
    expect((await stat(file())).mode & 0o777).toBe(0o600)
  })

  test('has only one writer', async () => {
    await using first = await openStore({ folder })
    expect(first.atomic).toBe(true)
    await expect(openStore({ folder })).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining(folder),
    })
  })

  test('that is truncated anywhere is refused and left unchanged', async () => {
    await fill()
    const { size } = await stat(file())
    const whole = join(folder, 'whole')
    await copyFile(file(), whole)
    let refused = 0
    for (let at = 0; at < size; at += 509) {
      await copyFile(whole, file())
      await truncate(file(), at)
      await refusesUntouched('cannot be read')
      refused += 1
    }
    expect(refused).toBeGreaterThan(20)
  })

  test.for([
    [
      'garbage',
      async (path: string) => writeFile(path, 'not a database at all, but long enough to be looked at'.repeat(50)),
    ],
    [
      'of another program',
      async (path: string) => {
        using database = new DatabaseSync(path)
        database.exec('CREATE TABLE theirs (a)')
      },
    ],
  ] as const)('that is %s is refused and left unchanged', async ([, make]) => {
    await make(file())
    await refusesUntouched('cannot be read')
  })

  test('that is missing while its write-ahead log is there is not created again', async () => {
    await fill()
    await writeFile(`${file()}-wal`, 'left over')
    await rm(file())
    await expect(openStore({ folder })).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining('-wal'),
    })
    expect(await readdir(folder)).not.toContain('store.db')
  })

  test('takes no more writes after a failed one, and still reads', async () => {
    await using store = await openStore({ folder })
    const items = store.collection('items', Item)
    await store.commit([items.put({ id: 'a', value: 'kept' })])
    using other = new DatabaseSync(file())
    other.exec('DROP TABLE kv')
    for (const id of ['b', 'c'])
      await expect(store.commit([items.put({ id, value: 'lost' })])).rejects.toMatchObject({ fault: 'unavailable' })
    expect((await items.list()).map(one => one.id)).toEqual(['a'])
    expect(store.failure).toContain('an earlier write failed')
  })

  test('with a row that is no document is refused with its key and left unchanged', async () => {
    await fill()
    using database = new DatabaseSync(file())
    database.exec(
      "UPDATE kv SET value = CAST('8c4d8dc3{' AS BLOB) WHERE key = 'items:i7'; PRAGMA wal_checkpoint(TRUNCATE)",
    )
    database.close()
    await refusesUntouched('items:i7')
  })

  describe('migrations', () => {
    const rename = {
      version: 4,
      name: 'value becomes text',
      migrate: (rows: ReadonlyMap<string, string>) =>
        [...rows].map(([key, text]) => {
          const { value, ...rest } = JSON.parse(text) as { value: string }
          return { key, value: JSON.stringify({ ...rest, text: value }) }
        }),
    }
    const After = z.object({ id: z.string(), text: z.string() })

    test('run once, and a copy of the older store is kept', async () => {
      await fill(3)
      for (const _ of [1, 2]) {
        await using store = await openStore({ folder, migrations: [rename] })
        expect(await store.collection('items', After).get('i1')).toMatchObject({ text: 'v'.repeat(200) })
      }
      using copy = new DatabaseSync(`${file()}.before-4`, { readOnly: true })
      expect(copy.prepare("SELECT CAST(value AS TEXT) AS text FROM kv WHERE key = 'items:i1'").get()).toMatchObject({
        text: expect.stringContaining('"value"'),
      })
    })

    test('that fail leave the store unchanged', async () => {
      await fill(3)
      const broken = {
        ...rename,
        migrate: () => {
          throw new Error('cannot be')
        },
      }
      await expect(openStore({ folder, migrations: [broken] })).rejects.toThrow('cannot be')
      await using store = await openStore({ folder })
      expect(await store.collection('items', Item).get('i1')).toBeDefined()
    })

    test('do not run on a store of a newer program, which is refused and left unchanged', async () => {
      await fill(3)
      await (await openStore({ folder, migrations: [rename] }))[Symbol.asyncDispose]()
      await refusesUntouched('newer')
    })
  })
})
