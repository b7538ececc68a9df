import { expect, test } from 'vitest'
import { guardWrites } from '#lib/objects/port/guard-writes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createTestSource } from '../../../contracts/provider.ts'

const source = createTestSource(Buffer.from('x'))

/** Two guarded providers on one storage. Writes wait until `finish` is called; `calls` are the other calls. */
const open = () => {
  const { promise, resolve: finish } = Promise.withResolvers<void>()
  const calls: unknown[] = []
  const provider: Provider = {
    type: 'test',
    stat: async () => undefined,
    read: async () => new Blob([]).stream(),
    write: () => promise,
    async *list() {},
    remove: async (path, _, options) => void calls.push(['remove', path, options]),
    cleanUpUploads: async path => void calls.push(['cleanUpUploads', path]),
  }
  const options = { writing: new Set<string>(), getKey: (path: string) => path }
  return { one: guardWrites(provider, options), other: guardWrites(provider, options), calls, finish }
}

test('refuses a second write of an object by any provider until the first has ended', async () => {
  const { one, other, finish } = open()
  const first = one.write('a', source)
  await expect(other.write('a', source)).rejects.toMatchObject({
    fault: 'conflict',
    message: 'a is being written already.',
  })
  const second = other.write('b', source)
  finish()
  await Promise.all([first, second])
  await other.write('a', source)
})

test('an object can be written again after a write that failed', async () => {
  const { one } = open()
  const provider = guardWrites(
    { ...one, write: () => Promise.reject(new Error('cut')) },
    { writing: new Set(), getKey: path => path },
  )
  for (let time = 0; time < 2; time += 1) await expect(provider.write('a', source)).rejects.toThrow('cut')
})

test('what a running write has sent is not removed', async () => {
  const { one, other, calls, finish } = open()
  const write = one.write('a', source)
  await other.remove('a')
  await other.cleanUpUploads!('a')
  finish()
  await write
  await other.remove('a')
  await other.cleanUpUploads!('a')
  expect(calls).toEqual([
    ['remove', 'a', { keepsUploads: true }],
    ['remove', 'a', { keepsUploads: false }],
    ['cleanUpUploads', 'a'],
  ])
})

test('refuses a path that cannot name an object', async () => {
  const { one } = open()
  for (const refused of [one.write('../a', source), one.remove('../a'), one.cleanUpUploads!('../a')])
    await expect(refused).rejects.toMatchObject({ fault: 'invalid' })
})
