import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Collection, Log, Store, Stored, Write } from '#lib/storage/store.ts'

const Item = z.object({ id: z.string(), name: z.string(), count: z.number().default(0), more: z.unknown().optional() })
type Item = z.infer<typeof Item>

export interface StoreBench {
  open(): Promise<Store>
  /** Whether what was written is there for the next one that opens. */
  readonly durable: boolean
  close(): Promise<void>
}

/** Every store passes this, whatever it writes to. */
export const storeContract = (name: string, make: () => Promise<StoreBench>): void => {
  describe(`the store contract: ${name}`, () => {
    let bench: StoreBench
    let store: Store
    let items: Collection<Item>
    let others: Collection<Item>

    const open = async (): Promise<void> => {
      store = await bench.open()
      items = store.collection('items', Item, { unique: { name: item => item.name.toLowerCase() } })
      others = store.collection('others', Item)
    }
    const item = (id: string, more: Partial<Item> = {}): Item => ({ id, name: id, count: 0, ...more })
    /** What is there now, and after opening again where that keeps anything. */
    const everyone = async (): Promise<readonly (Item & Stored)[]> => {
      const now = await items.list()
      if (!bench.durable) return now
      await store[Symbol.asyncDispose]()
      await open()
      expect(await items.list()).toEqual(now)
      return now
    }

    beforeEach(async () => {
      bench = await make()
      await open()
    })
    afterEach(async () => {
      await store[Symbol.asyncDispose]()
      await bench.close()
    })

    test('stores documents with a revision that counts up', async () => {
      await store.commit([items.put(item('a'))])
      const first = (await items.get('a'))!
      expect(first).toEqual({ ...item('a'), rev: 1 })
      await store.commit([items.put({ ...first, count: 2 })])
      expect(await everyone()).toEqual([{ ...item('a', { count: 2 }), rev: 2 }])
      await store.commit([items.remove((await items.get('a'))!)])
      expect(await everyone()).toEqual([])
    })

    test('refuses a stale revision and a second creation', async () => {
      await store.commit([items.put(item('a'))])
      const first = (await items.get('a'))!
      await store.commit([items.put({ ...first, count: 1 })])
      for (const write of [items.put({ ...first, count: 9 }), items.put(item('a')), items.remove(first)])
        await expect(store.commit([write])).rejects.toMatchObject({ fault: 'conflict' })
      expect(await everyone()).toMatchObject([{ count: 1, rev: 2 }])
    })

    test('commits all writes or none, across collections', async () => {
      await store.commit([items.put(item('a')), others.put(item('b'))])
      const stale = items.put(item('a'))
      await expect(store.commit([items.put(item('c')), others.put(item('d')), stale])).rejects.toMatchObject({
        fault: 'conflict',
      })
      expect(await others.get('d')).toBeUndefined()
      expect((await everyone()).map(one => one.id)).toEqual(['a'])
      expect(await others.get('b')).toBeDefined()
    })

    test('a refused commit does not affect concurrent commits', async () => {
      await store.commit([items.put(item('a'))])
      const all = await Promise.allSettled([
        store.commit([items.put(item('b'))]),
        store.commit([items.put(item('a'))]),
        store.commit([items.put(item('c'))]),
      ])
      expect(all.map(one => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect((await everyone()).map(one => one.id)).toEqual(['a', 'b', 'c'])
    })

    test('finds by a unique value, and keeps it unique', async () => {
      await store.commit([items.put(item('a', { name: 'One' })), items.put(item('b', { name: 'Two' }))])
      expect(await items.find('name', 'two')).toMatchObject({ id: 'b' })
      await expect(store.commit([items.put(item('c', { name: 'ONE' }))])).rejects.toMatchObject({ fault: 'conflict' })
      await items.update('a', one => ({ ...one, name: 'Three' }))
      await store.commit([items.put(item('c', { name: 'ONE' }))])
      expect(await items.find('name', 'one')).toMatchObject({ id: 'c' })
      expect(await everyone()).toHaveLength(3)
    })

    test('a hundred concurrent updates all take effect', async () => {
      await store.commit([items.put(item('a'))])
      await Promise.all(Array.from({ length: 100 }, () => items.update('a', one => ({ ...one, count: one.count + 1 }))))
      expect(await everyone()).toMatchObject([{ count: 100, rev: 101 }])
      await expect(items.update('zz', one => one)).rejects.toMatchObject({ fault: 'not-found' })
    })

    describe('a log', () => {
      const Entry = z.object({ text: z.string(), after: z.string().optional() })
      type Entry = z.infer<typeof Entry>
      let log: Log<Entry>
      const add = (text: string): Write =>
        log.append((_, previous) => ({ text, ...(previous && { after: previous.text }) }))
      const texts = (entries: readonly Entry[]): readonly string[] => entries.map(entry => entry.text)
      const reopen = async (): Promise<void> => {
        if (!bench.durable) return
        await store[Symbol.asyncDispose]()
        await open()
        log = store.log('things', Entry)
      }
      beforeEach(() => {
        log = store.log('things', Entry)
      })

      test('numbers its entries in the order of the commits and links each to the one before', async () => {
        expect([log.first(), log.head()]).toEqual([1, 0])
        await Promise.all(Array.from({ length: 1_000 }, (_, at) => store.commit([add(`t${at}`)])))
        await reopen()
        const all = log.read(0, 2_000)
        expect(all).toHaveLength(1_000)
        expect(
          all.every(
            ({ seq, text, after }, at) => seq === at + 1 && text === `t${at}` && (at === 0 || after === `t${at - 1}`),
          ),
        ).toBe(true)
        expect(log.head()).toBe(1_000)
      })

      test('is read in pages, from both ends', async () => {
        for (const text of ['a', 'b', 'c', 'd', 'e']) await store.commit([add(text)])
        expect(texts(log.read(0, 2))).toEqual(['a', 'b'])
        expect(texts(log.read(2, 2))).toEqual(['c', 'd'])
        expect(texts(log.read(4, 2))).toEqual(['e'])
        expect(texts(log.read(5, 2))).toEqual([])
        expect(texts(log.readBack(Infinity, 2))).toEqual(['e', 'd'])
        expect(texts(log.readBack(4, 9))).toEqual(['c', 'b', 'a'])
      })

      test('is committed together with the documents, or not at all', async () => {
        await store.commit([items.put(item('a')), add('made a')])
        await expect(store.commit([add('lost'), items.put(item('a'))])).rejects.toMatchObject({ fault: 'conflict' })
        await store.commit([add('next'), items.put(item('b'))])
        await reopen()
        expect(log.read(0, 9)).toEqual([
          { seq: 1, text: 'made a' },
          { seq: 2, text: 'next', after: 'made a' },
        ])
      })

      test('removes its oldest entries, never the last one, and continues its numbers', async () => {
        for (const text of ['a', 'b', 'c', 'd']) await store.commit([add(text)])
        await store.commit([log.forget(2)])
        expect([log.first(), log.head()]).toEqual([3, 4])
        await reopen()
        expect(texts(log.read(0, 9))).toEqual(['c', 'd'])
        await store.commit([log.forget(100)])
        await reopen()
        expect(texts(log.read(0, 9))).toEqual(['d'])
        await store.commit([add('e')])
        expect(log.read(4, 9)).toEqual([{ seq: 5, text: 'e', after: 'd' }])
      })

      test('of 20,000 entries beside documents is quick to open and to page', async () => {
        for (let at = 0; at < 20; at += 1)
          await store.commit(Array.from({ length: 1_000 }, (_, one) => add(`${at}-${one}`)))
        await reopen()
        expect(log.head()).toBe(20_000)
        expect(texts(log.readBack(10_001, 1))).toEqual(['9-999'])
      })
    })

    test('text is stored unchanged', async () => {
      const texts = ['123', 'true', 'null', '{}', '', ' a ', 'é😀\u0000\u2028', '__proto__']
      await store.commit(texts.map((more, at) => items.put(item(`t${at}`, { more }))))
      expect((await everyone()).map(one => one.more)).toEqual(texts)
    })

    test('stores a value of 5 MB and ten thousand documents', async () => {
      await store.commit([items.put(item('big', { more: 'x'.repeat(5 << 20) }))])
      const ids = Array.from({ length: 10_000 }, (_, at) => `n${String(at).padStart(5, '0')}`)
      await Promise.all(ids.map(id => store.commit([items.put(item(id))])))
      expect((await everyone()).map(one => one.id)).toEqual(['big', ...ids])
    })

    test('a document that was read cannot be modified', async () => {
      await store.commit([items.put(item('a', { more: { deep: [1] } }))])
      const read = (await items.get('a')) as { more: { deep: number[] } }
      expect(() => read.more.deep.push(2)).toThrow(TypeError)
    })

    test('a document that its schema would refuse is not stored', async () => {
      expect(() => items.put({ id: 'a', name: 7 as unknown as string, count: 0 })).toThrow('items:a')
      expect(() => items.put(item('../a'))).toThrow('id')
    })
  })
}
