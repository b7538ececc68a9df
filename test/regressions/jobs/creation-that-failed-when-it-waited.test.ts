import { expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

test('a job that creates a machine waits for its condition, without a limit', async ({ call }) => {
  const { status, body: job } = await call('POST', '/api/v1/machines?until=running', {
    ...{ headers: { prefer: 'respond-async' }, body: { name: 'web', memory: 64, disks: [{ size: 1 }] } },
  })
  expect(status).toBe(202)
  const ended = await until(async () => {
    const { body } = await call('GET', `/api/v1/jobs/${job.id}`)
    expect(['completed', 'failed']).toContain(body.state)
    return body
  })
  expect(ended).toMatchObject({ state: 'completed', result: { current_state: 'running', until: 'met' } })
})
