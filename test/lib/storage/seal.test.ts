import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { migrations, findNewestVersion } from '#lib/storage/migrations.ts'
import { type OpenedStore, openStore } from '#lib/storage/open-store.ts'
import { resealDatabase } from '#lib/storage/prepare-database.ts'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'
import { storeContract } from '../../contracts/store.ts'
import { newFolder } from '../../support/folder.ts'
import { rounds } from '../../support/rounds.ts'

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const privateKey = newKey()
const secrets: SealSecrets = { password: 'a password for the store', privateKey, cost: 16 }

storeContract('SQLite, sealed', async () => {
  const folder = newFolder()
  return {
    open: () => openStore({ folder: folder.path, seal: async () => secrets }),
    durable: true,
    close: async () => folder[Symbol.dispose](),
  }
})

const Item = z.object({ id: z.string(), value: z.string() })
const marker = 'a-text-that-must-not-be-found'

describe('the sealed store', () => {
  let folder: ReturnType<typeof newFolder>
  beforeEach(() => {
    folder = newFolder()
  })
  afterEach(() => folder[Symbol.dispose]())

  const file = (): string => join(folder.path, 'store.db')
  const open = (seal: SealSecrets | undefined = secrets): Promise<OpenedStore> =>
    openStore({ folder: folder.path, seal: seal && (async () => seal) })
  const fill = async (seal: SealSecrets | undefined, count = 5): Promise<void> => {
    await using store = await openStore({ folder: folder.path, seal: seal && (async () => seal) })
    const items = store.collection('items', Item)
    const log = store.log('things', z.object({ text: z.string() }))
    for (let at = 0; at < count; at += 1)
      await store.commit([items.put({ id: `i${at}`, value: `${marker} ${at}` }), log.append(() => ({ text: marker }))])
  }
  /** All that the store holds, as its users see it. */
  const content = async (seal: SealSecrets | undefined = secrets): Promise<unknown> => {
    await using store = await openStore({ folder: folder.path, seal: seal && (async () => seal) })
    return [
      await store.collection('items', Item).list(),
      store.log('things', z.object({ text: z.string() })).read(0, 99),
    ]
  }
  const files = (): string[] =>
    readdirSync(folder.path, { withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ name }) => name)
  /** The content of every file that holds data; the lock and SQLite's own bookkeeping hold none. */
  const bytes = (): Record<string, string> =>
    Object.fromEntries(
      files()
        .filter(name => !/lock|-shm$|-wal$/.test(name))
        .map(name => [name, readFileSync(join(folder.path, name)).toString('base64')]),
    )
  const refusesUntouched = async (told: string | RegExp, seal: SealSecrets | undefined = secrets): Promise<void> => {
    const before = bytes()
    await expect(openStore({ folder: folder.path, seal: seal && (async () => seal) })).rejects.toThrow(told)
    expect(bytes()).toEqual(before)
  }
  const change = (sql: string): void => {
    const database = new DatabaseSync(file())
    database.exec(sql)
    database.close()
  }

  test('has no plain text on disk, also before it is closed', async () => {
    await using store = await open()
    const items = store.collection('items', Item)
    await store.commit([items.put({ id: 'i', value: marker })])
    for (const name of files()) expect(readFileSync(join(folder.path, name)).includes(marker)).toBe(false)
  })

  test('needs its password and its private key, and says which of them is wrong', async () => {
    await fill(secrets)
    await refusesUntouched('VMHOST_STORAGE_PASSWORD', { ...secrets, password: 'another password' })
    await refusesUntouched('private key', { ...secrets, privateKey: newKey() })
    const before = bytes()
    await expect(openStore({ folder: folder.path })).rejects.toThrow('is encrypted')
    expect(bytes()).toEqual(before)
    expect(await content()).toHaveLength(2)
  })

  test('is made from a plain store with a copy, and its files hold no plain text', async () => {
    await fill(undefined)
    const before = await openStore({ folder: folder.path }).then(async store => {
      const all = await store.collection('items', Item).list()
      await store[Symbol.asyncDispose]()
      return all
    })
    const store = await open()
    expect(store.plainCopy).toBe(`${file()}.plain`)
    expect(await store.collection('items', Item).list()).toEqual(before)
    await store[Symbol.asyncDispose]()
    for (const name of files().filter(name => name !== 'store.db.plain'))
      expect(readFileSync(join(folder.path, name)).includes(marker), name).toBe(false)
    const again = await open()
    expect(again.plainCopy).toBeUndefined()
    await again[Symbol.asyncDispose]()
    // The copy is complete. It is refused in place of the encrypted store until the marker file is removed.
    copyFileSync(`${file()}.plain`, file())
    await expect(openStore({ folder: folder.path })).rejects.toThrow('is not encrypted, and the store in')
    rmSync(join(folder.path, 'keys/store-is-encrypted'))
    await using plain = await openStore({ folder: folder.path })
    expect(await plain.collection('items', Item).list()).toEqual(before)
  })

  test('with one bit flipped in any byte is refused and left unchanged, or opens with its whole content', async () => {
    await fill(secrets)
    const good = await content()
    const whole = readFileSync(file())
    let [refused, unused] = [0, 0]
    // Every byte of SQLite's header, and random bytes of the rows.
    const apart = rounds(20, 2)
    for (let at = 0; at < whole.length; at += at < 100 ? 1 : Math.ceil(Math.random() * 2 * apart)) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1 << ((at * 7) % 8)
      writeFileSync(file(), damaged)
      rmSync(`${file()}-shm`, { force: true })
      rmSync(`${file()}-wal`, { force: true })
      try {
        const seen = await content()
        expect(seen, `byte ${at}`).toEqual(good)
        unused += 1
      } catch (error) {
        if (!(error instanceof Error) || error.name === 'AssertionError') throw error
        expect(readFileSync(file()).equals(damaged), `byte ${at} was refused, and changed`).toBe(true)
        refused += 1
      }
    }
    console.log(
      `one bit flipped in each of ${refused + unused} bytes: ${refused} refused, ${unused} in bytes that hold nothing`,
    )
    expect(refused).toBeGreaterThan(rounds(50, 500))
  }, 300_000)

  test('truncated at any offset is refused and left unchanged', async () => {
    await fill(secrets)
    const whole = readFileSync(file())
    for (let at = 0; at < whole.length; at += 257) {
      writeFileSync(file(), whole)
      truncateSync(file(), at)
      rmSync(`${file()}-shm`, { force: true })
      rmSync(`${file()}-wal`, { force: true })
      await expect(content(), `${at} bytes`).rejects.toThrow(/cannot be read|encrypted/)
      expect(statSync(file()).size).toBe(at)
    }
  })

  test.for([
    ['a row that is gone', "DELETE FROM kv WHERE key = 'items:i1'"],
    [
      'two rows that changed places',
      `UPDATE kv SET value = (SELECT value FROM kv AS other WHERE other.key = CASE kv.key WHEN 'items:i1' THEN 'items:i2' ELSE 'items:i1' END) WHERE key IN ('items:i1', 'items:i2')`,
    ],
    ['a row under another key', "UPDATE kv SET key = 'items:i9' WHERE key = 'items:i1'"],
    ['the newest entry of a log that is gone', 'DELETE FROM log WHERE seq = 5'],
    ['an entry in the middle that is gone', 'DELETE FROM log WHERE seq = 3'],
    ['another version of the content', 'PRAGMA user_version = 0'],
    ['no state', 'DELETE FROM seal WHERE id = 0'],
    ['no wrapped key', 'DELETE FROM seal WHERE id = 1'],
  ] as const)('with %s is refused and left unchanged', async ([, sql]) => {
    await fill(secrets)
    change(sql)
    await refusesUntouched(/cannot be read|encrypted/)
  })

  test('with an older version of a row is refused', async () => {
    await fill(secrets)
    const old = new DatabaseSync(file())
    const { value } = old.prepare("SELECT value FROM kv WHERE key = 'items:i1'").get() as { value: Uint8Array }
    old.close()
    const store = await open()
    await store.collection('items', Item).update('i1', item => ({ ...item, value: 'newer' }))
    await store[Symbol.asyncDispose]()
    const database = new DatabaseSync(file())
    database.prepare("UPDATE kv SET value = ? WHERE key = 'items:i1'").run(value)
    database.close()
    await refusesUntouched('not as the last commit left it')
  })

  test('during a change of the private key both keys open it, afterwards only the new one', async () => {
    await fill(secrets)
    const next = { ...secrets, privateKey: newKey() }
    const good = await content()
    {
      await using store = await open()
      await store.addKey(next.privateKey)
      // The same as after a kill between the two steps: either key opens the store, and is the only one afterwards.
    }
    const between = readFileSync(file())
    expect(await content(next)).toEqual(good)
    await refusesUntouched('private key', secrets)
    writeFileSync(file(), between)
    expect(await content(secrets)).toEqual(good)
    await refusesUntouched('private key', next)
    writeFileSync(file(), between)
    const store = await open(next)
    await store.removeOtherKeys(next.privateKey)
    await store[Symbol.asyncDispose]()
    expect(await content(next)).toEqual(good)
  })

  test('resealed with another password is not opened by the old one', async () => {
    await fill(secrets)
    const good = await content()
    const next = { ...secrets, password: 'quite another password' }
    const before = readFileSync(file())
    await expect(
      resealDatabase(file(), { ...secrets, password: 'wrong' }, next, findNewestVersion(migrations)),
    ).rejects.toThrow('STORAGE_PASSWORD')
    expect(readFileSync(file()).equals(before)).toBe(true)
    await resealDatabase(file(), secrets, next, findNewestVersion(migrations))
    await refusesUntouched('VMHOST_STORAGE_PASSWORD', secrets)
    expect(await content(next)).toEqual(good)
  })
})
