import { expect, test } from 'vitest'
import { every } from '#lib/async/every.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Store } from '#lib/storage/store.ts'

test('thousands of keys of one caller do not pile up until they expire', async () => {
  const memory = await createMemoryStore()
  let rows = 0
  const store: Store = {
    ...memory,
    async commit(writes) {
      await memory.commit(writes)
      for (const write of writes)
        if ('collection' in write) rows += Number(write.expectedRev === 0) - Number(write.value === undefined)
    },
  }
  const { run, close } = openIdempotency(store, { pepper: new Uint8Array(32), every })
  for (let at = 0; at < 22_500; at += 1)
    await run({ key: `key-${at}`, caller: `caller-${at % 3}`, operation: 'x', content: at, secret: false }, () => at)
  close()
  expect(rows).toBeGreaterThan(20_000)
  expect(rows).toBeLessThan(21_100)
})

test('the keys of one caller do not evict those of another', async () => {
  const { run, close } = openIdempotency(await createMemoryStore(), { pepper: new Uint8Array(32), every })
  const ask = (caller: string, key: string, answer: number) =>
    run({ key, caller, operation: 'x', content: 0, secret: false }, () => answer)
  await ask('quiet', 'k', 1)
  for (let at = 0; at < 22_000; at += 1) await ask('loud', `key-${at}`, at)
  expect(await ask('quiet', 'k', 2)).toBe(1)
  close()
})
