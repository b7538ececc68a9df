import { describe, expect } from 'vitest'
import { type Answer, type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const machine = '/api/v1/machines/one'
const status = async (call: Call): Promise<string> => (await call('GET', `${machine}/status`)).body.status
/** Starts to clone the machine. The clone goes on until the returned function is called. */
const holdMachine = async (call: Call, driver: { delay: number }): Promise<() => Promise<void>> => {
  await call('POST', '/api/v1/machines', { body: { name: 'one', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  driver.delay = 60_000
  const headers = { prefer: 'respond-async' }
  const { body } = await call('PUT', `${machine}/clone`, { headers, body: { clone_name: 'slow' } })
  await until(async () => expect(await status(call)).toBe('cloning'))
  driver.delay = 1
  return async () => {
    await call('POST', `/api/v1/jobs/${body.id}/cancel`)
    await until(async () => expect(await status(call)).not.toBe('cloning'))
  }
}
const start = (call: Call, more: { as?: readonly string[]; signal?: AbortSignal } = {}): Promise<Answer> =>
  call('PUT', `${machine}/start`, { headers: { prefer: 'wait=60' }, ...more })

describe('a call whose client disconnects while it waits for a machine', () => {
  test.for([new Error('aborted'), 'Client connection prematurely closed.', undefined])(
    'is no failure of the service: %o',
    async (reason, { call, driver, observed }) => {
      const free = await holdMachine(call, driver)
      const gone = new AbortController()
      const waiting = start(call, { signal: gone.signal })
      await status(call)
      gone.abort(reason)
      await waiting
      const counted = observed.filter(({ operation }) => operation === 'machines/start')
      expect(counted).toMatchObject([{ status: 499 }])
      await free()
    },
  )
})

test('one user can have at most 100 waiting calls', async ({ call, driver }) => {
  const free = await holdMachine(call, driver)
  const waiting = Array.from({ length: 100 }, () => start(call))
  await status(call)
  expect(await start(call)).toMatchObject({ status: 503, body: { message: expect.stringContaining('Prefer: wait') } })
  // Calls of other users and calls that do not wait are not limited.
  expect((await call('PUT', `${machine}/start`)).status).toBe(409)
  const other = start(call, { as: ['other', 'UPDATE_VM_STATES'] })
  await free()
  expect(new Set((await Promise.all([...waiting, other])).map(answer => answer.status))).toEqual(new Set([200]))
  expect((await start(call)).status).toBe(200)
})
