import { expect, test } from 'vitest'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'

test('a cancelled waiter stops waiting for the lock, and does not let others in early', async () => {
  const turns = createKeyedMutex()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const done: string[] = []
  const first = turns('key', async () => {
    await ended
    done.push('first')
  })
  const cancelled = new AbortController()
  const second = turns('key', async () => done.push('second'), cancelled.signal)
  const third = turns('key', async () => done.push('third'))
  cancelled.abort(new Error('cancelled'))
  await expect(second).rejects.toThrow('cancelled')
  await turns('other', async () => done.push('other'))
  expect(done).toEqual(['other'])
  end()
  await Promise.all([first, third])
  expect(done).toEqual(['other', 'first', 'third'])
})
