import { afterEach, expect, vi } from 'vitest'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const day = 24 * 3_600_000

afterEach(() => void vi.useRealTimers())

test('a key that was used at one pool claims nothing at another one after a day', async ({ call }) => {
  await call('POST', '/api/v1/machines', { body: { name: 'base', memory: 16, disks: [{ size: 1 }] } })
  for (const name of ['one', 'two']) {
    const body = { name, from: { machine: 'base' }, min: 1, max: 1 }
    expect((await call('POST', '/api/v1/pools', { body })).status).toBe(201)
    await until(async () => expect((await call('GET', `/api/v1/pools/${name}`)).body.members[0]?.state).toBe('ready'))
  }
  const claim = (pool: string, key: string) =>
    call('POST', `/api/v1/pools/${pool}/claim`, { headers: { 'idempotency-key': key } })
  const first = await claim('one', 'build-7')
  expect(first.status).toBe(201)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + day + 1 })
  // Old replies are forgotten when there are many new ones. The claimed machine keeps its key.
  for (let at = 0; at < 1_000; at += 1) expect((await claim('none', `other-${at}`)).status).toBe(404)
  const second = await claim('two', 'build-7')
  expect(second).toMatchObject({ status: 201, body: { pool: 'two', name: expect.stringMatching(/^two-/) } })
  expect((await claim('one', 'build-7')).status).toBe(409)
})
