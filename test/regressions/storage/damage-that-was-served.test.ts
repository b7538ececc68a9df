import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { newFolder } from '../../support/folder.ts'
import { bothKinds, fillKept, openKept, readKept } from '../../support/kept-store.ts'
import { seededRandom } from '../../support/random.ts'
import { until } from '../../support/waiting.ts'

const change = (folder: string, sql: string): void => {
  using database = new DatabaseSync(join(folder, 'store.db'))
  database.exec(sql)
}
/** Flips a bit within one value. */
const flip = (table: string, where: string): string =>
  `UPDATE ${table} SET value = CAST(substr(value, 1, 60) || x'5f' || substr(value, 62) AS BLOB) WHERE ${where}`

describe.for(bothKinds)('a damaged store (%s)', ([, seal]) => {
  const filled = async (count: number): Promise<ReturnType<typeof newFolder>> => {
    const folder = newFolder()
    const opened = await openKept(folder.path, seal)
    await fillKept(opened, count)
    await opened.store[Symbol.asyncDispose]()
    return folder
  }

  test('with a bit flipped anywhere is refused, names the entry that it cannot read, or gives the original content', async () => {
    using folder = await filled(30)
    const good = await readKept(folder.path, seal)
    const file = join(folder.path, 'store.db')
    const whole = readFileSync(file)
    const random = seededRandom(8)
    for (let round = 0; round < 300; round += 1) {
      const damaged = Buffer.from(whole)
      const place = Math.floor(random() * whole.length)
      damaged[place]! ^= 1 << Math.floor(random() * 8)
      writeFileSync(file, damaged)
      for (const left of ['-wal', '-shm']) rmSync(`${file}${left}`, { force: true })
      const seen = await readKept(folder.path, seal).catch((error: unknown) => {
        expect(error, `byte ${place}`).toMatchObject({ fault: expect.stringMatching(/unavailable|internal/) })
      })
      if (seen !== undefined) expect(seen, `byte ${place}`).toEqual(good)
    }
  })

  test('with a damaged document is refused, and the error names the document', async () => {
    using folder = await filled(3)
    change(folder.path, flip('kv', "key = 'items:i1'"))
    await expect(readKept(folder.path, seal)).rejects.toThrow('items:i1 is damaged')
  })

  test('with a damaged old entry opens, and reports the damage when the entry is read or verified in the background', async () => {
    using folder = await filled(2)
    {
      const { store, log } = await openKept(folder.path, seal)
      for (let at = 0; at < 20; at += 1)
        await store.commit(Array.from({ length: 100 }, () => log.append(() => ({ text: 'e'.repeat(100) }))))
      await store[Symbol.asyncDispose]()
    }
    change(folder.path, flip('log', "name = 'things' AND seq = 700"))
    const { store, log } = await openKept(folder.path, seal)
    expect(log.read(700, 5_000)).toHaveLength(1_302)
    expect(store.damage).toBeUndefined()
    await until(() => expect(store.damage).toContain('things'))
    expect(() => log.read(600, 200)).toThrow('entry things 700 is damaged')
    // The other entries can be read, and the store takes changes.
    expect(log.read(0, 699)).toHaveLength(699)
    await store.commit([log.append(() => ({ text: 'more' }))])
    await store[Symbol.asyncDispose]()
  })

  test('with a missing entry reports the damage after the background verification', async () => {
    using folder = await filled(2)
    {
      const { store, log } = await openKept(folder.path, seal)
      for (let at = 0; at < 13; at += 1)
        await store.commit(Array.from({ length: 100 }, () => log.append(() => ({ text: 'e' }))))
      await store[Symbol.asyncDispose]()
    }
    change(folder.path, "DELETE FROM log WHERE name = 'things' AND seq = 700")
    const { store } = await openKept(folder.path, seal)
    await until(() => expect(store.damage).toContain('entry 700 of things is missing'))
    await store[Symbol.asyncDispose]()
  })

  test('with a missing table is refused and not created again', async () => {
    using folder = await filled(3)
    const copy = join(folder.path, 'whole')
    copyFileSync(join(folder.path, 'store.db'), copy)
    for (const table of ['log', 'seal', 'checkpoint']) {
      copyFileSync(copy, join(folder.path, 'store.db'))
      change(folder.path, `DROP TABLE ${table}`)
      await expect(readKept(folder.path, seal)).rejects.toMatchObject({ fault: 'unavailable' })
    }
  })
})
