import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createRunner } from '#lib/jobs/runner.ts'
import type { StoredJob } from '#lib/jobs/schemas.ts'

const begin = () => {
  const defects: unknown[] = []
  const kept: StoredJob[] = []
  const now = new Date().toISOString()
  const runner = createRunner({
    job: {
      id: crypto.randomUUID(),
      owner: 'me',
      owner_name: 'me',
      owner_email: 'me@example.test',
      state: 'pending',
      progress: 0,
      job_type: 'catalog',
      job_operation: 'pull',
      created_at: now,
      updated_at: now,
    },
    work: async ({ signal }) => {
      await once(signal!, 'abort')
      return text(createReadStream('/dev/zero', { signal }))
    },
    failed: error => void defects.push(error),
    leave: ({ fault }) => fault === 'unavailable',
    keep: async job => kept.push(job),
  })
  return { runner, defects, kept }
}

test('a job that is cancelled while Node works for it ends with the reason, and is no defect', async () => {
  const { runner, defects, kept } = begin()
  await runner.cancel('It was cancelled.')
  expect(await runner.ended).toBe('failed')
  expect(kept.at(-1)).toMatchObject({ state: 'failed', error: 'It was cancelled.', code: 409 })
  expect(defects).toEqual([])
})

test('one that the end of the service cuts off so goes on at the next start', async () => {
  const { runner, defects } = begin()
  runner.abort()
  expect(await runner.ended).toBeUndefined()
  expect(defects).toEqual([])
})
