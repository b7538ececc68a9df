import { generateKeyPairSync } from 'node:crypto'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type OpenedStore, openStore } from '#lib/storage/open-store.ts'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'
import { newFolder } from '../../support/folder.ts'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { until } from '../../support/waiting.ts'

const Item = z.object({ id: z.string(), value: z.string() })
const Entry = z.object({ text: z.string() })
const reserve = 4 << 20
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const secrets: SealSecrets = { password: 'a password for the store', privateKey, cost: 16 }

test('a reserve file that is larger than its size is truncated', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'store.db.reserve')
  writeFileSync(file, Buffer.alloc(reserve + 1_000_000, 1))
  await using _ = await openStore({ folder: folder.path, reserve })
  expect(statSync(file).size).toBe(reserve)
})

describe.skipIf(!canMount).for([
  ['plain', undefined],
  ['sealed', secrets],
] as const)('a %s store on a disk that is full (needs the right to mount)', ([, seal]) => {
  const open = async (folder: string) => {
    const store = await openStore({ folder, seal: seal && (async () => seal), reserve })
    const items = store.collection('items', Item)
    if (!(await items.get('first'))) await store.commit([items.put({ id: 'first', value: 'v' })])
    return { store, items, log: store.log('things', Entry) }
  }
  const reserved = (folder: string): number => statSync(join(folder, 'store.db.reserve')).size
  const whenReserved = (folder: string): Promise<void> => until(() => expect(reserved(folder)).toBe(reserve))
  /** Writes until the disk takes no more; gives the ids of what was taken. */
  const fillUp = async ({ store, items }: Awaited<ReturnType<typeof open>>): Promise<string[]> => {
    const taken: string[] = ['first']
    for (let at = 0; ; at += 1)
      try {
        await store.commit([items.put({ id: `i${at}`, value: 'v'.repeat(3_000) })])
        taken.push(`i${at}`)
      } catch (error) {
        expect(error).toMatchObject({ fault: 'no-space' })
        return taken
      }
  }
  const ids = async (store: OpenedStore): Promise<string[]> =>
    (await store.collection('items', Item).list()).map(({ id }) => id)

  test('refuses commits that find no room, and takes commits again by itself when there is room', async () => {
    using disk = newSmallDisk(24)
    const opened = await open(disk.path)
    const { store, items } = opened
    await whenReserved(disk.path)
    disk.fill()
    const taken = await fillUp(opened)
    expect(store.failure).toContain('its disk is full')
    expect((await items.list()).map(({ id }) => id).toSorted()).toEqual(taken.toSorted())
    expect(await items.get('first')).toBeDefined()
    disk.empty()
    expect(store.failure).toBeUndefined()
    await store.commit([items.put({ id: 'after', value: 'v' })])
    await whenReserved(disk.path)
    await store[Symbol.asyncDispose]()
    await using again = await openStore({ folder: disk.path, seal: seal && (async () => seal) })
    expect((await ids(again)).toSorted()).toEqual([...taken, 'after'].toSorted())
  })

  test('makes hundreds of essential commits from the reserve, and no other commits until the reserve is full again', async () => {
    using disk = newSmallDisk(24)
    const opened = await open(disk.path)
    const { store, items, log } = opened
    await whenReserved(disk.path)
    disk.fill()
    await fillUp(opened)
    const essential = { essential: true }
    for (let at = 0; at < 500; at += 1)
      await store.commit([log.append(() => ({ text: `entry ${at} ${'e'.repeat(500)}` }))], essential)
    await items.update('first', item => ({ ...item, value: 'revoked' }), [], essential)
    expect(reserved(disk.path)).toBeLessThan(reserve)
    await expect(store.commit([items.put({ id: 'small', value: 'v' })])).rejects.toMatchObject({ fault: 'no-space' })
    expect([store.hasRoomForFollowUp(false), store.hasRoomForFollowUp(true)]).toEqual([true, true])
    // Until the reserve is used up; `hasRoomForFollowUp` is false before that.
    let more = 0
    while (store.hasRoomForFollowUp(true)) {
      await store.commit([log.append(() => ({ text: 'e'.repeat(20_000) }))], essential)
      more += 1
    }
    expect(store.hasRoomForFollowUp(false)).toBe(false)
    expect(more).toBeGreaterThan(20)
    disk.empty()
    expect([store.hasRoomForFollowUp(false), store.hasRoomForFollowUp(true)]).toEqual([true, true])
    await store.commit([items.put({ id: 'small', value: 'v' })])
    await whenReserved(disk.path)
    await store[Symbol.asyncDispose]()
    const again = await open(disk.path)
    expect(again.log.head()).toBe(500 + more)
    expect(await again.items.get('first')).toMatchObject({ value: 'revoked' })
    await again.store[Symbol.asyncDispose]()
  })

  test('makes each commit of a group that fits, and the others leave no trace', async () => {
    using disk = newSmallDisk(24)
    const { store, items } = await open(disk.path)
    await store.commit([items.put({ id: 'a', value: 'before' })])
    const before = (await items.get('a'))!
    const big = 'x'.repeat(30 << 20)
    const all = await Promise.allSettled([
      store.commit([items.put({ id: 'b', value: 'small' })]),
      store.commit([items.put({ ...before, value: big })]),
      store.commit([items.put({ ...before, value: 'after' }), items.put({ id: 'c', value: 'small' })]),
    ])
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(all[1]).toMatchObject({ reason: { fault: 'no-space' } })
    await store[Symbol.asyncDispose]()
    const again = await open(disk.path)
    expect((await again.items.list()).map(({ id, value, rev }) => [id, value, rev])).toEqual([
      ['a', 'after', 2],
      ['b', 'small', 1],
      ['c', 'small', 1],
      ['first', 'v', 1],
    ])
    await again.store[Symbol.asyncDispose]()
  })

  test('opens with its reserve on a full disk, also after a kill', async () => {
    using disk = newSmallDisk(24)
    const opened = await open(disk.path)
    await whenReserved(disk.path)
    disk.fill()
    await fillUp(opened)
    await opened.store[Symbol.asyncDispose]()
    disk.fill()
    const { store, items } = await open(disk.path)
    await items.update('first', item => ({ ...item, value: 'revoked' }), [], { essential: true })
    await store[Symbol.asyncDispose]()
  })
})
