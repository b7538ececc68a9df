import { join } from 'node:path'
import { expect, test } from 'vitest'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd } from '#build/workerd.ts'
import { newFolder } from '../support/folder.ts'
import { bundleForWorkerd } from '../support/workerd/bundle.ts'
import type { TestResult } from '../support/workerd/vitest.ts'

test('the store of a Durable Object passes the contract of stores in workerd, and notices damage', async () => {
  using folder = newFolder()
  const script = join(folder.path, 'store.mjs')
  await bundleForWorkerd('test/edge/programs/store.ts', script)
  await using worker = await startWorkerd({
    ...edgeSettings,
    script,
    durableObjects: { SUITE: 'Suite' },
    entrypoints: {},
    folder: join(folder.path, 'state'),
  })
  // What the program replies.
  const results = (await (await fetch(worker.url)).json()) as TestResult[]
  expect(results.filter(({ error }) => error !== undefined)).toEqual([])
  expect(results.map(({ name }) => name)).toContain(
    'the store contract: Durable Object > stores documents with a revision that counts up',
  )
  expect(results.length).toBeGreaterThanOrEqual(27)
})
