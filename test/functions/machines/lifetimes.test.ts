import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { openMachines } from '#lib/machines/machines.ts'
import { newEventLog } from '../../support/events.ts'
import { type Call, host, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'
import { refuseImage } from '../../support/images.ts'

const create = async (call: Call, members: object, query = '', headers = {}) => {
  const body = { name: 'one', memory: 64, ...members }
  const answer = await call('POST', `/api/v1/machines${query}`, { body, headers })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const verb = async (call: Call, name: string, path = 'one'): Promise<void> => {
  const { status, body } = await call('PUT', `/api/v1/machines/${path}/${name}`)
  expect(status, JSON.stringify(body)).toBe(200)
}
const isGone = (call: Call): Promise<void> =>
  until(async () => expect((await call('GET', '/api/v1/machines/one')).status).toBe(404), 10)

describe('an ephemeral machine', () => {
  test('is deleted when it stops, with an event', async ({ call }) => {
    const { id } = await create(call, { ephemeral: true })
    await verb(call, 'start')
    await verb(call, 'stop')
    await isGone(call)
    const { events } = (await call('GET', '/api/v1/events?limit=1000')).body
    expect(events).toContainEqual(expect.objectContaining({ message: 'VM_REMOVED', body: { vm_id: id } }))
  })

  test.for(['stopped', 'crashed'])(
    'is deleted when its guest has ended by itself: %s',
    async (how, { call, driver }) => {
      const { id } = await create(call, { ephemeral: true })
      await verb(call, 'start')
      driver.simulateChange(id, 'stopped', how === 'crashed' ? 'crashed' : undefined)
      await isGone(call)
    },
  )

  test('stays over a restart, a pause, and before its first start', async ({ call }) => {
    await create(call, { ephemeral: true })
    expect((await call('GET', '/api/v1/machines/one')).body[0].ephemeral).toBe(true)
    for (const name of ['start', 'restart', 'pause', 'resume', 'suspend', 'start']) await verb(call, name)
    expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('running')
  })

  test('is tried again when it cannot be deleted', async ({ call, driver, eventLog }) => {
    await create(call, { ephemeral: true })
    await verb(call, 'start')
    driver.failures.remove = new Error('the disk is gone')
    await verb(call, 'stop')
    await until(async () => expect(eventLog.automationFailures).toContain('deletion of one'), 10)
    driver.failures.remove = undefined
    await isGone(call)
  })

  test('that does not run is deleted at the next start of the service', async ({ call, driver, machines }) => {
    await create(call, { ephemeral: true })
    await machines.close()
    const next = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 200,
      ...(await newEventLog()),
    })
    await until(async () => expect(() => next.show('one')).toThrow('no machine'), 10)
    await next.close()
  })

  test('has clones that stay', async ({ call }) => {
    await create(call, { ephemeral: true })
    const body = { clone_name: 'two' }
    expect((await call('PUT', '/api/v1/machines/one/clone', { body })).status).toBe(200)
    await verb(call, 'start', 'two')
    await verb(call, 'stop', 'two')
    expect((await call('GET', '/api/v1/machines/two')).body[0]).not.toHaveProperty('ephemeral')
  })
})

describe('a machine with a time to live', () => {
  test('says when it ends, and is deleted then although it runs', async ({ call }) => {
    const created = await create(call, { ttl: 1 })
    expect(Date.parse(created.expires_at)).toBeGreaterThan(Date.now() - 1_000)
    await verb(call, 'start')
    expect((await call('GET', '/api/v1/machines/one')).body[0].expires_at).toBe(created.expires_at)
    await isGone(call)
  })

  test('that ended while the service was down is deleted at its start', async ({ call, driver, machines }) => {
    await create(call, { ttl: 1 })
    await machines.close()
    const next = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 200,
      ...(await newEventLog()),
    })
    await until(async () => expect(() => next.show('one')).toThrow('no machine'), 10)
    await next.close()
  })

  test.for([0, -1, 1.5, 40_000_000, '60'])('refuses %j seconds', async (ttl, { call }) => {
    const { status } = await call('POST', '/api/v1/machines', { body: { name: 'one', memory: 64, ttl } })
    expect(status).toBe(400)
  })
})

describe('machines that should run', () => {
  test('are started with the service, in their order', async ({ call, driver, machines }) => {
    for (const [name, order] of [
      ['last', 9],
      ['first', 1],
      ['second', 2],
    ] as const)
      await create(call, { name, autostart: { enabled: true, order } })
    await create(call, { name: 'idle' })
    await machines.close()
    const run = vi.spyOn(driver, 'run')
    const next = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 200,
      ...(await newEventLog()),
    })
    await until(async () => expect(next.showStatus('last').status).toBe('running'), 10)
    expect(next.showStatus('idle').status).toBe('stopped')
    expect(run.mock.calls.map(([id]) => next.show(id).Name)).toEqual(['first', 'second', 'last'])
    await next.close()
  })

  test('are started again after a crash, if they say so', async ({ call, driver }) => {
    const { id } = await create(call, { restart: 'on-crash' })
    const other = await create(call, { name: 'two' })
    for (const name of ['one', 'two']) await verb(call, 'start', name)
    driver.simulateChange(id, 'stopped', 'crashed')
    driver.simulateChange(other.id, 'stopped', 'crashed')
    await until(async () => expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('running'), 10)
    expect((await call('GET', '/api/v1/machines/two/status')).body.status).toBe('stopped')
  })

  test('are started again when they crashed while the service was down', async ({ call, driver, machines }) => {
    const { id } = await create(call, { restart: 'on-crash' })
    await verb(call, 'start')
    await machines.close()
    driver.simulateChange(id, 'stopped', 'crashed')
    const next = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 200,
      ...(await newEventLog()),
    })
    await until(async () => expect(next.showStatus('one').status).toBe('running'), 10)
    await next.close()
  })

  test('stay stopped when somebody has stopped them', async ({ call, driver }) => {
    const { id } = await create(call, { restart: 'on-crash' })
    await verb(call, 'start')
    driver.simulateChange(id, 'stopped')
    expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('stopped')
  })
})

describe('a request that creates a machine and waits', () => {
  test('starts it, and replies when it runs', async ({ call }) => {
    const created = await create(call, {}, '?until=running')
    expect(created).toMatchObject({ current_state: 'running', until: 'met', ip_configured: '-' })
  })

  test('waits for the serial output, also over the parts that it comes in', async ({ call, machines }) => {
    const creating = create(call, {}, `?until=${encodeURIComponent('serial:login: $')}`)
    await until(async () => expect(machines.showStatus('one').status).toBe('running'))
    const log = join(machines.show('one').Home, 'serial.log')
    appendFileSync(log, 'booting\nlog')
    appendFileSync(log, 'in: ')
    expect((await creating).until).toBe('met')
  })

  test('replies when the time is over, and the machine runs on', async ({ call }) => {
    const created = await create(call, {}, '?until=ip', { prefer: 'wait=1' })
    expect(created).toMatchObject({ current_state: 'running', until: 'timeout' })
  })

  test('ends when the machine stops or is deleted', async ({ call, driver, machines }) => {
    const creating = create(call, {}, '?until=ip')
    await until(async () => expect(machines.showStatus('one').status).toBe('running'))
    driver.simulateChange(machines.show('one').ID, 'stopped')
    expect(await creating).toMatchObject({ current_state: 'stopped', until: 'stopped' })
    const second = create(call, { name: 'two' }, '?until=serial:never')
    await until(async () => expect(machines.showStatus('two').status).toBe('running'))
    expect((await call('DELETE', '/api/v1/machines/two?force=true')).status).toBe(202)
    expect((await second).until).toBe('gone')
  })

  test('leaves no machine when it does not start', async ({ call, driver }) => {
    driver.failures.start = new Error('no room')
    const { status } = await call('POST', '/api/v1/machines?until=running', { body: { name: 'one', memory: 64 } })
    expect(status).toBe(500)
    expect((await call('GET', '/api/v1/machines')).body).toEqual([])
  })

  test.for(['never', 'serial:', 'serial:(', 'serial:((a{1000}){1000})', 'constructor', `serial:${'x'.repeat(513)}`])(
    'is refused with a condition that is none, before anything is made: %s',
    async (condition, { call }) => {
      const path = `/api/v1/machines?until=${encodeURIComponent(condition)}`
      const { status, body } = await call('POST', path, { body: { name: 'one', memory: 64 } })
      expect([status, body.message]).toEqual([400, expect.stringContaining('until')])
      expect((await call('GET', '/api/v1/machines')).body).toEqual([])
    },
  )
})

test('a machine belongs to who made it, and its clone to who cloned it', async ({ call }) => {
  const created = await create(call, {})
  const { owner } = (await call('GET', '/api/v1/machines/one')).body[0]
  expect(owner).toEqual(expect.any(String))
  expect(created.owner).not.toBe('')
  expect((await call('PUT', '/api/v1/machines/one/clone', { body: { clone_name: 'two' } })).status).toBe(200)
  expect((await call('GET', '/api/v1/machines/two')).body[0].owner).toBe(owner)
})
