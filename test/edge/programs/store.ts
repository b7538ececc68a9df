/** A program for workerd: runs the contract of stores, and more about the disk, inside a Durable Object. */
import { DurableObject } from 'cloudflare:workers'
import * as z from 'zod'
import { openDurableObjectSql, type DurableObjectStorage } from '#lib/storage/durable-object/sql.ts'
import { openDurableObjectStore } from '#lib/storage/durable-object/open-store.ts'
import { describe, expect, test, beforeEach } from 'vitest'
import { storeContract } from '../../contracts/store.ts'
import { runTests } from '../../support/workerd/vitest.ts'

let storage: DurableObjectStorage

const open = () => openDurableObjectStore(storage)
const clear = (): void => {
  for (const table of ['documents', 'entries', 'bounds', 'version']) storage.sql.exec(`DROP TABLE IF EXISTS ${table}`)
}

storeContract('Durable Object', async () => {
  clear()
  return { open, durable: true, close: async () => clear() }
})

const Item = z.object({ id: z.string(), value: z.string() })
const Entry = z.object({ text: z.string() })

describe('the store of a Durable Object', () => {
  beforeEach(async () => {
    clear()
    await using store = await open()
    const items = store.collection('items', Item)
    const log = store.log('things', Entry)
    await store.commit([
      items.put({ id: 'small', value: 'x' }),
      items.put({ id: 'large', value: 'é'.repeat(1_500_000) }),
      ...Array.from({ length: 1_200 }, (_, at) => log.append(() => ({ text: `t${at}` }))),
    ])
  })
  const change = (query: string): void => void storage.sql.exec(query)
  const refuses = async (message: string): Promise<void> => {
    await expect(open()).rejects.toMatchObject({ fault: 'unavailable' })
    await expect(open()).rejects.toThrow(message)
  }
  const refusesLog = async (message: string): Promise<void> => {
    await using store = await open()
    expect(() => store.log('things', Entry).read(0, 2_000)).toThrow(message)
  }

  test('holds no row above the limit of the platform', () => {
    const [{ most }] = [...storage.sql.exec('SELECT max(length(value)) AS most FROM documents')] as [{ most: number }]
    expect(most).toBe(1_000_000)
  })
  test('refuses a row that only the local runtime would take', () => {
    const { run } = openDurableObjectSql(storage)
    expect(() => run('INSERT INTO documents VALUES (?, ?, ?)', 'items:a', 0, new Uint8Array(2_000_000))).toThrow(
      'limit',
    )
  })
  test('refuses a document with a changed byte and leaves it unchanged', async () => {
    change("UPDATE documents SET value = CAST('00000000{}' AS BLOB) WHERE key = 'items:small'")
    await refuses('items:small')
    const [{ value }] = [...storage.sql.exec("SELECT value FROM documents WHERE key = 'items:small'")] as [
      { value: ArrayBuffer },
    ]
    expect(new TextDecoder().decode(value)).toBe('00000000{}')
  })
  test('refuses a document without one of its pieces', async () => {
    change("DELETE FROM documents WHERE key = 'items:large' AND piece = 1")
    await refuses('items:large')
  })
  test('refuses a document in the place of another', async () => {
    change("UPDATE documents SET key = 'items:other' WHERE key = 'items:small'")
    await refuses('items:other')
  })
  test('refuses an entry that was changed', async () => {
    change("UPDATE entries SET value = CAST('00000000{}' AS BLOB) WHERE seq = 7")
    await refusesLog('entry things 7')
  })
  test('refuses a log with an entry missing in the middle', async () => {
    change('DELETE FROM entries WHERE seq = 600')
    await refusesLog('entry 600 of things is missing')
  })
  test('refuses a log with entries missing at an end', async () => {
    change('DELETE FROM entries WHERE seq > 900')
    await refusesLog('entries of things are missing')
  })
  test('refuses a log with entries missing at its beginning', async () => {
    change('DELETE FROM entries WHERE seq < 9')
    await refusesLog('entries of things are missing')
  })
  test('refuses the store of a newer program', async () => {
    change('UPDATE version SET version = 99')
    await refuses('newer')
  })
  test('migrates once', async () => {
    change('UPDATE version SET version = 1')
    let migrated = 0
    const migration = {
      version: 2,
      name: 'value grows',
      migrate(rows: ReadonlyMap<string, string>) {
        migrated += 1
        const small = JSON.parse(rows.get('items:small')!) as object
        return [{ key: 'items:small', value: JSON.stringify({ ...small, value: 'grown' }) }]
      },
    }
    for (const _ of [1, 2]) {
      await using store = await openDurableObjectStore(storage, [migration])
      expect(await store.collection('items', Item).get('small')).toMatchObject({ value: 'grown' })
    }
    expect(migrated).toBe(1)
  })
  test('keeps the order of texts and what they replace', async () => {
    await using store = await open()
    const texts = store.texts('texts')
    await store.commit([texts.put('a', 'one'.repeat(1_000_000))])
    await store.commit([texts.put('a', 'two')])
    expect(await texts.read('a')).toBe('two')
    await store.commit([texts.remove('a')])
    expect(await texts.read('a')).toBeUndefined()
  })
})

export class Suite extends DurableObject {
  async fetch(): Promise<Response> {
    storage = this.ctx.storage
    return Response.json(await runTests())
  }
}

interface Environment {
  readonly SUITE: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

export default {
  fetch: (request: Request, { SUITE }: Environment) => SUITE.get(SUITE.idFromName('suite')).fetch(request),
}
