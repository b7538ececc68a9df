import { expect, test } from 'vitest'
import { createTurns } from '#lib/catalog/turns.ts'

test('who waits for a turn and is cancelled does not wait on, and lets nobody come sooner', async () => {
  const turns = createTurns()
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
