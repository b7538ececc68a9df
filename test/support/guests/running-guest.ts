import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { connectAgent } from '#lib/hypervisor/agent/agent.ts'
import type { SimulatedDriver } from '../drivers/simulated-driver.ts'
import type { Call } from '../harness.ts'
import { type FakeAgent, startFakeAgent } from './fake-agent.ts'

/** Makes the running machine `web`, whose guest agent works on this computer until the end of the test. */
export const startGuest = async (call: Call, driver: SimulatedDriver): Promise<FakeAgent> => {
  await call('POST', '/api/v1/machines', { body: { name: 'web', memory: 16, disks: [{ size: 1 }] } })
  await call('PUT', '/api/v1/machines/web/start')
  const fake = startFakeAgent()
  const agent = connectAgent(fake.stream)
  onTestFinished(() => agent.close())
  driver.agent = agent
  return fake
}

/** Makes a folder of the guest, which is one of this computer, until the end of the test. */
export const makeGuestFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-guest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
