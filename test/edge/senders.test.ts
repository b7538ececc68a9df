import { join } from 'node:path'
import { expect, test } from 'vitest'
import { edgeSettings } from '#build/edge-settings.ts'
import { startWorkerd } from '#build/workerd.ts'
import { newFolder } from '../support/folder.ts'
import { startScenarios } from '../support/servers/scenarios.ts'
import { bundleForWorkerd } from '../support/workerd/bundle.ts'
import type { TestResult } from '../support/workerd/vitest.ts'

test('requests over fetch keep their contracts in workerd', async () => {
  using folder = newFolder()
  await using server = await startScenarios()
  const script = join(folder.path, 'senders.mjs')
  await bundleForWorkerd('test/edge/programs/senders.ts', script)
  await using worker = await startWorkerd({
    ...edgeSettings,
    script,
    durableObjects: {},
    entrypoints: {},
    // The servers of this test are on the loopback.
    network: ['public', 'private'],
  })
  const { url, tlsUrl } = server
  const response = await fetch(worker.url, { method: 'POST', body: JSON.stringify({ url, tlsUrl }) })
  // What the program replies.
  const results = (await response.json()) as TestResult[]
  expect(results.filter(({ error }) => error !== undefined)).toEqual([])
  expect(results).toHaveLength(21)
})
