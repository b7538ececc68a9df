import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { median } from './load.ts'
import { ratioRow, type Row } from './table.ts'

const Item = z.object({ id: z.string(), text: z.string() })
const writers = 64
const milliseconds = 1_000
const rounds = 3

// About 0.9 KB, never the same twice: a database may skip writing what is there already.
const text = (): string => `${Math.random()} `.repeat(45)

/** Durable writes per second of 64 writers, each of which waits for its write before it sends the next. */
const rate = async (write: (writer: number, step: number) => Promise<void>): Promise<number> => {
  const begun = performance.now()
  const counts = await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      let step = 0
      for (; performance.now() - begun < milliseconds; step += 1) await write(writer, step)
      return step
    }),
  )
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - begun)) * 1000
}

/** The store against a file per document, written with the same care; and the store when it knows 100,000 documents. */
export const storeRows = async (): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-store-'))
  const seen = { files: [] as number[], small: [] as number[], sealed: [] as number[], large: [] as number[] }
  try {
    await using store = await openStore({ folder })
    const items = store.collection('items', Item)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    await using sealed = await openStore({
      folder: join(folder, 'sealed'),
      seal: async () => ({ password: 'a password for the store', privateKey }),
    })
    const secrets = sealed.collection('items', Item)
    const toStore = (): Promise<number> =>
      rate(() => store.commit([items.put({ id: crypto.randomUUID(), text: text() })]))
    const toSealed = (): Promise<number> =>
      rate(() => sealed.commit([secrets.put({ id: crypto.randomUUID(), text: text() })]))
    const toFiles = (): Promise<number> =>
      rate((writer, step) => writeFileAtomic(join(folder, `f${writer}-${step % 50}`), JSON.stringify({ text: text() })))
    for (let round = 0; round < rounds; round += 1) {
      seen.files.push(await toFiles())
      seen.small.push(await toStore())
      seen.sealed.push(await toSealed())
    }
    for (let have = (await items.list()).length; have < 100_000; have += 5_000)
      await store.commit(Array.from({ length: 5_000 }, () => items.put({ id: crypto.randomUUID(), text: text() })))
    for (let round = 0; round < rounds; round += 1) seen.large.push(await toStore())
    const [files, small, large] = [median(seen.files), median(seen.small), median(seen.large)]
    const figures = { unit: '/s', digits: 0 }
    return [
      ratioRow('durable writes, 64 writers', { measured: small, floor: files, ...figures }, { least: 5 }),
      ratioRow('the same, encrypted', { measured: median(seen.sealed), floor: small, ...figures }, { least: 0.6 }),
      ratioRow('the same with 100,000 documents', { measured: large, floor: small, ...figures }, { least: 0.8 }),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
