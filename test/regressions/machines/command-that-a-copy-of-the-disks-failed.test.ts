import { expect, onTestFinished } from 'vitest'
import { connectAgent } from '#lib/hypervisor/agent/agent.ts'
import { startFakeAgent } from '../../support/guests/fake-agent.ts'
import { test } from '../../support/harness.ts'

test('a command goes on while its guest is frozen for a copy of its disks', async ({ call, driver }) => {
  await call('POST', '/api/v1/machines', { body: { name: 'web', memory: 16, disks: [{ size: 1 }] } })
  await call('PUT', '/api/v1/machines/web/start')
  const fake = startFakeAgent()
  const agent = connectAgent(fake.stream)
  onTestFinished(() => agent.close())
  driver.agent = agent
  let frozen = 3
  const refusal = {
    class: 'CommandNotFound',
    desc: 'Command guest-exec-status has been disabled: the agent is in frozen state',
  }
  fake.faults.reply = command =>
    command === 'guest-exec-status' && frozen-- > 0 ? `${JSON.stringify({ error: refusal })}\n` : undefined
  const { status, body } = await call('PUT', '/api/v1/machines/web/execute', { body: { command: 'echo done' } })
  expect([status, body.stdout]).toEqual([200, 'done\n'])
  expect(frozen).toBeLessThanOrEqual(0)
})
