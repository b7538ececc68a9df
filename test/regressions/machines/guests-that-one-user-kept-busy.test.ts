import { expect } from 'vitest'
import { startGuest } from '../../support/guests/running-guest.ts'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const execute = '/api/v1/machines/web/execute'

test('the commands of one user leave room for those of others, however many are sent at once', async ({
  call,
  driver,
}) => {
  await startGuest(call, driver)
  const leaving = new AbortController()
  let refused = 0
  const commands = Array.from({ length: 80 }, async () => {
    const { status } = await call('PUT', execute, {
      as: ['EXECUTE_COMMAND_VM'],
      body: { command: 'sleep 30' },
      signal: leaving.signal,
    })
    if (status === 503) refused += 1
  })
  await until(() => expect(refused).toBe(64))
  const other = await call('PUT', execute, { as: ['other', 'EXECUTE_COMMAND_VM'], body: { command: 'echo other' } })
  expect([other.status, other.body.stdout]).toEqual([200, 'other\n'])
  leaving.abort()
  await Promise.allSettled(commands)
  // What has ended makes room again.
  await until(async () => {
    const own = await call('PUT', execute, { as: ['EXECUTE_COMMAND_VM'], body: { command: 'true' } })
    expect(own.status).toBe(200)
  })
})
