import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runJob } from '#lib/jobs/running-job.ts'
import type { StoredJob } from '#lib/jobs/schemas.ts'

const begin = () => {
  const defects: unknown[] = []
  const saved: StoredJob[] = []
  const now = new Date().toISOString()
  const runningJob = runJob({
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
    onDefect: error => void defects.push(error),
    isResumable: ({ fault }) => fault === 'unavailable',
    save: async job => saved.push(job),
  })
  return { runningJob, defects, saved }
}

test('a job that is cancelled during a call of Node fails with the reason, and is not a defect', async () => {
  const { runningJob, defects, saved } = begin()
  await runningJob.cancel('It was cancelled.')
  expect(await runningJob.ended).toBe('failed')
  expect(saved.at(-1)).toMatchObject({ state: 'failed', error: 'It was cancelled.', code: 409 })
  expect(defects).toEqual([])
})

test('a job that the shutdown interrupts during a call of Node is resumed at the next start', async () => {
  const { runningJob, defects } = begin()
  runningJob.abort()
  expect(await runningJob.ended).toBeUndefined()
  expect(defects).toEqual([])
})
