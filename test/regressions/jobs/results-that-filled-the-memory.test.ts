import { expect } from 'vitest'
import { startGuest } from '../../support/guests/running-guest.ts'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

test('the results of the jobs of one user have a limit, and make room for those of later ones', async ({
  call,
  driver,
}) => {
  await startGuest(call, driver)
  const run = async (size: number, as: string[]): Promise<string> => {
    const started = await call('PUT', '/api/v1/machines/web/execute', {
      as,
      headers: { prefer: 'respond-async' },
      body: { command: `head -c ${size} /dev/zero | tr '\\0' x`, max_output: 2 ** 20 },
    })
    expect(started.status).toBe(202)
    await until(async () => expect((await call('GET', `/api/v1/jobs/${started.body.id}`)).body.state).toBe('completed'))
    return started.body.id
  }
  const mine = ['EXECUTE_COMMAND_VM']
  const first = await run(5, mine)
  const others = await run(5, ['other', ...mine])
  for (let at = 0; at < 17; at += 1) await run(2 ** 20, mine)
  const jobs: { id: string; message?: string; result?: { stdout: string } }[] = (await call('GET', '/api/v1/jobs')).body
  const stored = jobs.reduce((sum, { result }) => sum + JSON.stringify(result ?? '').length, 0)
  expect(stored).toBeLessThan(17 * 2 ** 20)
  expect(jobs[0]?.result?.stdout).toHaveLength(2 ** 20)
  const dropped = jobs.find(({ id }) => id === first)
  expect(dropped).not.toHaveProperty('result')
  expect(dropped?.message).toMatch(/result was removed/)
  expect(jobs.find(({ id }) => id === others)?.result?.stdout).toBe('xxxxx')
})
