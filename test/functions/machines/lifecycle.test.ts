import { describe, expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const verbs = ['start', 'stop', 'restart', 'suspend', 'resume', 'reset', 'pause'] as const
const demo = { name: 'Build 1', cpus: 2, memory: 64, disks: [{ size: 10 }] }

describe.each(['GET', 'PUT'])('%s /v1/machines/{id}/VERB', method => {
  test('takes a machine through all states', async ({ call }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    const walk = [
      ['start', 'running'],
      ['pause', 'paused'],
      ['resume', 'running'],
      ['suspend', 'suspended'],
      ['resume', 'running'],
      ['reset', 'running'],
      ['restart', 'running'],
      ['stop', 'stopped'],
    ] as const
    for (const [verb, state] of walk) {
      const operation = verb.charAt(0).toUpperCase() + verb.slice(1)
      expect(await call(method, `/api/v1/machines/build%201/${verb}`)).toMatchObject({
        status: 200,
        body: { id: made.id, operation, status: 'Success' },
      })
      expect((await call('GET', `/api/v1/machines/${made.id}/status`)).body).toEqual({
        id: made.id,
        status: state,
        ip_configured: '-',
      })
    }
  })

  test.for(verbs)(
    '%s refuses a wrong state, an unknown machine and a caller without the claim',
    async (verb, { call }) => {
      expect(await call(method, `/api/v1/machines/nobody/${verb}`)).toMatchObject({ status: 404, body: { code: 404 } })
      const path = `/api/v1/machines/nobody/${verb}`
      expect(await call(method, path, { as: null })).toMatchObject({ status: 401 })
      expect(await call(method, path, { as: ['LIST_VM'] })).toMatchObject({
        status: 403,
        body: { error: 'unauthorized_client', message: expect.stringContaining('UPDATE_VM_STATES') },
      })
    },
  )
})

describe('a running operation', () => {
  test('is joined by the same verb, refuses another, and is visible in the state', async ({ call, driver }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    driver.delay = 500
    const both = [call('PUT', `/api/v1/machines/${made.id}/start`), call('PUT', `/api/v1/machines/${made.id}/start`)]
    const status = async () => (await call('GET', `/api/v1/machines/${made.id}/status`)).body.status
    await until(async () => expect(await status()).toBe('starting'), 5)
    expect((await call('GET', '/api/v1/machines')).body[0].State).toBe('starting')
    expect(await call('PUT', `/api/v1/machines/${made.id}/pause`)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('starting') },
    })
    expect(await call('DELETE', `/api/v1/machines/${made.id}`)).toMatchObject({ status: 409 })
    expect((await Promise.all(both)).map(answer => answer.status)).toEqual([200, 200])
  })

  test('a graceful stop that takes too long is 504 and leaves the machine running', async ({ call, driver }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    await call('PUT', `/api/v1/machines/${made.id}/start`)
    driver.ignoresPowerButton = true
    expect(await call('PUT', `/api/v1/machines/${made.id}/stop`)).toMatchObject({
      status: 504,
      body: { code: 504, message: expect.stringContaining('`?force=true` stops the machine at once') },
    })
    expect((await call('GET', `/api/v1/machines/${made.id}/status`)).body.status).toBe('running')
    expect(await call('PUT', `/api/v1/machines/${made.id}/stop?force=true`)).toMatchObject({ status: 200 })
  })

  test('an unexpected error of the driver is logged, and its message is not sent to the client', async ({
    call,
    driver,
    observed,
  }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    driver.failure = new Error('secret detail at /src/driver.ts:12')
    const answer = await call('PUT', `/api/v1/machines/${made.id}/start`)
    expect(answer).toMatchObject({ status: 500, body: { code: 500 } })
    expect(JSON.stringify(answer.body)).not.toContain('secret')
    expect(answer.body.message).toContain(answer.headers.get('x-request-id'))
    expect(observed.at(-1)).toMatchObject({ operation: 'machines/start', status: 500, error: driver.failure })
  })
})

describe('a GET that changes something', () => {
  test.for([
    [{ 'sec-purpose': 'prefetch;prerender' }],
    [{ purpose: 'prefetch' }],
    [{ origin: 'https://elsewhere.example.test' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
  ] as const)('is refused with %o', async ([headers], { call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    expect(await call('GET', '/api/v1/machines/build 1/start', { headers })).toMatchObject({ status: 403 })
    expect((await call('GET', '/api/v1/machines/build 1/status')).body.status).toBe('stopped')
  })

  test('does nothing for HEAD', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const answer = await call('HEAD', '/api/v1/machines/build 1/start')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, PUT')
    expect((await call('GET', '/api/v1/machines/build 1/status')).body.status).toBe('stopped')
  })
})

test('a machine with more memory than the host is not started, and says what to change', async ({ call, driver }) => {
  const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
  const view = (await driver.get(made.id))!
  driver.simulateView({ ...view, definition: { ...view.definition, memory: 1_048_577 } })
  expect(await call('PUT', `/api/v1/machines/${made.id}/start`)).toMatchObject({
    status: 409,
    body: { message: expect.stringMatching(/memory: 1048577 MB .* which is 1048576 MB.*set/) },
  })
  expect((await call('GET', `/api/v1/machines/${made.id}/status`)).body.status).toBe('stopped')
})

test('a machine whose card is disconnected says so, with an event', async ({ call, driver }) => {
  const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
  await call('PUT', `/api/v1/machines/${made.id}/start`)
  const view = (await driver.get(made.id))!
  driver.simulateView({ ...view, disconnectedCards: ['net0'] })
  const problem = 'network disconnected: net0'
  expect((await call('GET', `/api/v1/machines/${made.id}`)).body[0]).toMatchObject({ State: 'running', problem })
  await until(async () => {
    const { events } = (await call('GET', '/api/v1/events?limit=1000')).body
    expect(events).toContainEqual(
      expect.objectContaining({
        message: 'VM_UPDATED',
        body: { vm_id: made.id, new_vm: expect.objectContaining({ problem }) },
      }),
    )
  })
})
