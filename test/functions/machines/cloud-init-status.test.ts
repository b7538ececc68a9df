import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { connectAgent } from '#lib/hypervisor/agent/agent.ts'
import { finishedCloudInit } from '../../support/guests/cloud-init-status.ts'
import { type FakeAgent, startFakeAgent } from '../../support/guests/fake-agent.ts'
import { newFolder } from '../../support/folder.ts'
import { type Call, test } from '../../support/harness.ts'
import type { SimulatedDriver } from '../../support/drivers/simulated-driver.ts'

const path = '/api/v1/machines/web/cloud-init'
const statusFile = '/run/cloud-init/status.json'
const { v1: finished } = finishedCloudInit
const secret = 'a-password-of-the-guest'

/** Makes a running machine whose guest has these files. */
const startWeb = async (call: Call, driver: SimulatedDriver, files: Record<string, string>): Promise<FakeAgent> => {
  const body = { name: 'web', memory: 16, disks: [{ size: 1 }], user_data: `#cloud-config\npassword: ${secret}\n` }
  await call('POST', '/api/v1/machines', { body })
  await call('PUT', '/api/v1/machines/web/start')
  const fake = startFakeAgent()
  const agent = connectAgent(fake.stream)
  const folder = newFolder()
  onTestFinished(() => {
    agent.close()
    folder[Symbol.dispose]()
  })
  for (const [at, [name, content]] of Object.entries(files).entries()) {
    const real = join(folder.path, String(at))
    writeFileSync(real, content)
    fake.files.set(name, real)
  }
  driver.agent = agent
  return fake
}

test('a cloud-init that has done its work says so, and nothing of what it was told', async ({ call, driver }) => {
  await startWeb(call, driver, { [statusFile]: JSON.stringify(finishedCloudInit) })
  const { status, body } = await call('GET', path)
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'done',
      datasource: 'DataSourceNoCloud [seed=/dev/sr0]',
      errors: [],
      started_at: '2026-01-01T00:00:00.000Z',
      finished_at: '2026-01-01T00:00:09.250Z',
    },
  })
  expect(JSON.stringify(body)).not.toContain(secret)
})

test('one that is at work says at what, and what has failed so far', async ({ call, driver }) => {
  const v1 = {
    ...finished,
    init: { ...finished.init, errors: ["('ssh', no\u0007 keys)"] },
    'modules-final': { errors: [], start: null, finished: null },
    stage: 'modules-config',
  }
  await startWeb(call, driver, { [statusFile]: JSON.stringify({ v1 }) })
  const { body } = await call('GET', path)
  expect(body).toMatchObject({ status: 'running', stage: 'modules-config', errors: ["('ssh', no  keys)"] })
  expect(body).not.toHaveProperty('finished_at')
})

test('one that has failed has the errors of all stages', async ({ call, driver }) => {
  const v1 = {
    ...finished,
    'init-local': { ...finished['init-local'], errors: ['first'] },
    'modules-final': { ...finished['modules-final'], errors: ['x'.repeat(5000)] },
  }
  await startWeb(call, driver, { [statusFile]: JSON.stringify({ v1 }) })
  expect((await call('GET', path)).body).toMatchObject({ status: 'error', errors: ['first', 'x'.repeat(1000)] })
})

test.for([
  [{}, 'not started'],
  [{ '/run/cloud-init/disabled': 'disabled by the kernel\n' }, 'disabled'],
] as const)('a guest with the files %j: %s', async ([files, status], { call, driver }) => {
  const fake = await startWeb(call, driver, files)
  expect((await call('GET', path)).body).toEqual({ status, errors: [] })
  // An agent can have the files without the programs.
  fake.disabled.add('guest-exec')
  expect((await call('GET', path)).body).toEqual({ status, errors: [] })
})

test.for([
  ['no JSON', '{'],
  ['another JSON', '{"v2": {}}'],
  ['errors that are none', JSON.stringify({ v1: { ...finished, init: { errors: [1] } } })],
  ['far too much', JSON.stringify({ v1: finished, rest: 'x'.repeat(600_000) })],
])('a file of the guest with %s is not believed', async ([, content], { call, driver }) => {
  await startWeb(call, driver, { [statusFile]: content! })
  expect(await call('GET', path)).toMatchObject({
    status: 502,
    body: { message: expect.stringContaining('cloud-init') },
  })
})

test('times that are none are left out', async ({ call, driver }) => {
  const v1 = { ...finished, 'init-local': { errors: [], start: 1e300, finished: 'soon' } }
  await startWeb(call, driver, { [statusFile]: JSON.stringify({ v1 }) })
  const { status, body } = await call('GET', path)
  expect(status).toBe(200)
  expect(body).not.toHaveProperty('started_at')
})

test('what is missing is named: the agent, a guest that runs, the right', async ({ call, driver }) => {
  await startWeb(call, driver, {})
  driver.agent = undefined
  expect(await call('GET', path)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('qemu-guest-agent') },
  })
  await call('PUT', '/api/v1/machines/web/stop')
  expect(await call('GET', path)).toMatchObject({ status: 409, body: { message: expect.stringContaining('Start it') } })
  expect((await call('GET', path, { as: ['other', 'LIST_VM'] })).status).toBe(403)
})
