import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { createStore } from '#lib/storage/create-store.ts'
import { createFailingDriver } from '../../support/drivers/failing-driver.ts'

const Item = z.object({ id: z.string(), name: z.string() })
const Entry = z.object({ text: z.string() })

const opened = async () => {
  const driver = createFailingDriver()
  const store = await createStore(createStorage({ driver }))
  const items = store.collection('items', Item, { unique: { name: ({ name }) => name } })
  const log = store.log('things', Entry)
  await store.commit([items.put({ id: 'a', name: 'first' }), log.append(() => ({ text: 'first' }))])
  const content = async (): Promise<unknown> => [
    (await items.list()).map(({ id, name, rev }) => [id, name, rev]),
    (await items.find('name', 'first'))?.id,
    log.head(),
    log.read(0, 9).map(({ text }) => text),
  ]
  return { driver, store, items, log, content }
}
const full = (): never => {
  throw new ServiceError('no-space', 'full')
}

test('a commit that certainly failed is undone in memory, and the next commit works', async () => {
  const { driver, store, items, log, content } = await opened()
  const before = await content()
  driver.fail = full
  const first = (await items.get('a'))!
  const changes = [
    items.put({ ...first, name: 'second' }),
    items.put({ id: 'b', name: 'first' }),
    log.append(() => ({ text: 'lost' })),
    log.append(() => ({ text: 'lost too' })),
    log.forget(1),
  ]
  await expect(store.commit(changes)).rejects.toMatchObject({ fault: 'no-space' })
  expect(await content()).toEqual(before)
  expect(store.failure).toBeUndefined()
  driver.fail = () => {}
  await store.commit([
    items.put({ ...first, name: 'third' }),
    log.append((seq, last) => ({ text: `${seq} ${last?.text}` })),
  ])
  expect(await content()).toEqual([[['a', 'third', 2]], undefined, 2, ['first', '2 first']])
})

test('after a commit with an unknown result the store takes no changes and shows the old content', async () => {
  const { driver, store, items, log, content } = await opened()
  const before = await content()
  driver.fail = () => {
    throw new Error('the disk is gone')
  }
  const all = await Promise.allSettled([
    store.commit([items.put({ id: 'b', name: 'b' })]),
    store.commit([items.remove({ id: 'a' }), log.append(() => ({ text: 'lost' }))]),
  ])
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  driver.fail = () => {}
  expect(await content()).toEqual(before)
  await expect(store.commit([items.put({ id: 'c', name: 'c' })])).rejects.toMatchObject({ fault: 'unavailable' })
  expect(store.failure).toContain('the content on disk is unknown')
  expect([store.hasRoomForFollowUp(true), store.hasRoomForFollowUp(false)]).toEqual([false, false])
})

test('an essential commit succeeds beside one that finds no room, and no commit is refused because of one that was undone', async () => {
  const { driver, store, items, log } = await opened()
  driver.fail = essential => {
    if (!essential) full()
  }
  const first = (await items.get('a'))!
  const all = await Promise.allSettled([
    store.commit([items.put({ ...first, name: 'normal' })]),
    // Its revision would be stale if the first commit had been made.
    store.commit([items.put({ ...first, name: 'essential' })], { essential: true }),
    store.commit([log.append(() => ({ text: 'normal' }))]),
    items.update('a', item => ({ ...item, name: `${item.name} again` }), [], { essential: true }),
  ])
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(all[0]).toMatchObject({ reason: { fault: 'no-space' } })
  expect(await items.get('a')).toMatchObject({ name: 'essential again', rev: 3 })
  expect(log.head()).toBe(1)
})
