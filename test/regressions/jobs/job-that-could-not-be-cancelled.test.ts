import { expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const prefer = { prefer: 'respond-async' }
const never = (): Promise<never> => new Promise(() => {})

const newMachine = (call: Call) =>
  call('POST', '/api/v1/machines', { body: { name: 'one', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
const statusOf = async (call: Call) => (await call('GET', '/api/v1/machines/one/status')).body.status
const ended = (call: Call, id: string) =>
  until(async () => {
    const { body } = await call('GET', `/api/v1/jobs/${id}`)
    expect(['completed', 'failed']).toContain(body.state)
    return body
  })

test('a push ends when it is cancelled even if a disk hangs, and its machine can be used', async ({ call, driver }) => {
  await newMachine(call)
  driver.export = never
  const push = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'one' }
  const { body: job } = await call('POST', '/api/v1/catalog/push', { body: push, headers: prefer })
  await until(async () => expect(await statusOf(call)).not.toBe('stopped'))
  expect((await call('POST', `/api/v1/jobs/${job.id}/cancel`)).status).toBe(202)
  expect(await ended(call, job.id)).toMatchObject({
    state: 'failed',
    code: 409,
    error: 'The job was cancelled by tester.',
  })
  expect(await statusOf(call)).toBe('stopped')
  expect((await call('PUT', '/api/v1/machines/one/start')).status).toBe(200)
})

test('a cancelled job whose work does not react ends, and says that its machine stays busy', async ({
  call,
  driver,
}) => {
  await newMachine(call)
  const { run } = driver
  const { promise: reacted, resolve: react } = Promise.withResolvers<void>()
  // Also if the test fails: the machines close only when their work has ended.
  using _ = { [Symbol.dispose]: react }
  driver.run = async (...what) => {
    await reacted
    return run(...what)
  }
  const { body: job } = await call('PUT', '/api/v1/machines/one/start', { headers: prefer })
  await until(async () => expect(await statusOf(call)).toBe('starting'))
  await call('POST', `/api/v1/jobs/${job.id}/cancel`)
  expect(await ended(call, job.id)).toMatchObject({
    state: 'failed',
    code: 409,
    error: expect.stringMatching(/^The job was cancelled by tester\. .*stays busy until the work has ended/),
  })
  expect(await statusOf(call)).toBe('starting')
  react()
  await until(async () => expect(await statusOf(call)).not.toBe('starting'))
})
