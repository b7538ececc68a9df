import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const create = async (call: Call, isStarted = true): Promise<string> => {
  const { body } = await call('POST', '/api/v1/machines', { body: { name: 'one', memory: 64 } })
  if (isStarted) await call('PUT', '/api/v1/machines/one/start')
  return body.id
}

const wait = (call: Call, condition: string, more = '', as?: readonly string[]): Promise<Answer> =>
  call('GET', `/api/v1/machines/one/wait?for=${encodeURIComponent(condition)}${more}`, as && { as })

describe('a wait for a state', () => {
  test('ends when it is reached', async ({ call, driver }) => {
    const id = await create(call, false)
    const running = wait(call, 'running')
    await call('PUT', '/api/v1/machines/one/start')
    expect(await running).toMatchObject({
      status: 200,
      body: { id, result: 'met', current_state: 'running', ip_configured: '-' },
    })
    const stopped = wait(call, 'stopped')
    driver.simulateChange(id, 'stopped')
    expect((await stopped).body).toMatchObject({ result: 'met', current_state: 'stopped' })
    expect((await wait(call, 'stopped')).body.result).toBe('met')
  })

  test('sees an address and an agent', async ({ call, driver, machines }) => {
    await create(call)
    const view = (await driver.list())[0]!
    const [ip, agent] = [wait(call, 'ip'), wait(call, 'agent')]
    driver.simulateView({ ...view, addresses: [{ ip: '10.0.2.15', type: 'ipv4' }] })
    expect((await ip).body).toMatchObject({ result: 'met', ip_configured: '10.0.2.15' })
    driver.simulateView({ ...(await driver.get(view.id))!, guest: { agentVersion: '7.2' } })
    expect((await agent).body.result).toBe('met')
    expect(machines.showStatus('one').status).toBe('running')
  })

  test('ends when the time is over', async ({ call }) => {
    await create(call)
    expect((await wait(call, 'ip', '&timeout=0')).body).toMatchObject({ result: 'timeout', current_state: 'running' })
    expect((await wait(call, 'stopped', '&timeout=0.1')).body.result).toBe('timeout')
  })

  test('ends when the machine is stopped or deleted, if it needs the guest', async ({ call, driver }) => {
    const id = await create(call)
    const [ip, serial] = [wait(call, 'ip'), wait(call, 'serial:never')]
    driver.simulateChange(id, 'stopped')
    expect([(await ip).body.result, (await serial).body.result]).toEqual(['stopped', 'stopped'])
    const running = wait(call, 'running')
    await call('DELETE', '/api/v1/machines/one')
    const { body } = await running
    expect(body).toEqual({ id, result: 'gone', ip_configured: '-' })
  })

  test('does not take a machine for stopped that is being started', async ({ call, driver }) => {
    await create(call, false)
    driver.delay = 300
    const starting = call('PUT', '/api/v1/machines/one/start')
    const port = wait(call, 'port:22')
    await starting
    expect((await port).body.result).toBe('met')
  })
})

describe('a wait for a port', () => {
  test('tries until the guest accepts a connection, and closes that', async ({ call, driver }) => {
    await create(call)
    const guest = new PassThrough()
    let attempts = 0
    driver.connectToGuest = port => {
      attempts += 1
      if (attempts < 3) throw new ServiceError('upstream', `The guest refuses connections to its port ${port}.`)
      return guest
    }
    expect((await wait(call, 'port:2222')).body.result).toBe('met')
    expect([attempts, guest.destroyed]).toEqual([3, true])
  })

  test('reports what no later attempt would mend', async ({ call, driver }) => {
    await create(call)
    driver.connectToGuest = () => {
      throw new ServiceError('unsupported', 'The machine has no isolated card.')
    }
    expect(await wait(call, 'port:22')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('card') },
    })
  })
})

describe('a wait for serial output', () => {
  test('finds it in pieces, goes on after a match, and misses nothing in between', async ({ call, machines }) => {
    await create(call)
    const log = join(machines.show('one').Home, 'serial.log')
    const login = wait(call, 'serial:login: $')
    appendFileSync(log, 'booting\nlog')
    appendFileSync(log, 'in: ')
    const { cursor } = (await login).body
    expect(cursor).toBe('15')
    appendFileSync(log, 'root\n# one\n# two\n')
    const one = (await wait(call, 'serial:# (\\w+)', `&cursor=${cursor}`)).body
    expect(one).toMatchObject({ result: 'met', cursor: '25' })
    expect((await wait(call, 'serial:# (\\w+)', `&cursor=${one.cursor}`)).body.cursor).toBe('31')
    expect((await wait(call, 'serial:root', `&cursor=${cursor}&timeout=0.1`)).body).toMatchObject({ result: 'met' })
    expect((await wait(call, 'serial:login', `&cursor=${cursor}&timeout=0.1`)).body).toMatchObject({
      result: 'timeout',
      cursor: '15',
    })
    appendFileSync(log, 'log')
    const half = (await wait(call, 'serial:login', '&cursor=30&timeout=0.1')).body
    expect(half).toMatchObject({ result: 'timeout' })
    appendFileSync(log, 'in')
    expect((await wait(call, 'serial:login', `&cursor=${half.cursor}`)).body).toMatchObject({
      result: 'met',
      cursor: '37',
    })
  })

  test('does not find what an earlier run has written', async ({ call, machines }) => {
    await create(call)
    const log = join(machines.show('one').Home, 'serial.log')
    writeFileSync(log, 'login: ')
    expect((await wait(call, 'serial:login')).body.result).toBe('met')
    await call('PUT', '/api/v1/machines/one/reset')
    expect((await wait(call, 'serial:login', '&timeout=0.2')).body.result).toBe('timeout')
    const again = wait(call, 'serial:login')
    appendFileSync(log, 'login: ')
    expect((await again).body).toMatchObject({ result: 'met', cursor: '12' })
  })

  test('tells that output after the cursor is gone', async ({ call, machines }) => {
    await create(call)
    const log = join(machines.show('one').Home, 'serial.log')
    writeFileSync(`${log}.1000`, '')
    writeFileSync(log, 'login: ')
    expect((await wait(call, 'serial:login', '&cursor=10')).body).toMatchObject({
      result: 'met',
      cursor: '1005',
      gap: true,
    })
  })

  test('finds a match across the blocks of a flood', async ({ call, machines }) => {
    await create(call)
    const log = join(machines.show('one').Home, 'serial.log')
    const waiting = wait(call, 'serial:need+le')
    appendFileSync(log, `${'x'.repeat(16 * 1024 - 3)}needddddle${'x'.repeat(1 << 20)}`)
    expect((await waiting).body).toMatchObject({ result: 'met', cursor: String(16 * 1024 + 7) })
  })
})

describe('a wait for an event', () => {
  test('sees the events of its machine alone, and those after its cursor', async ({ call, events }) => {
    const id = await create(call, false)
    await call('POST', '/api/v1/machines', { body: { name: 'two', memory: 64 } })
    const changed = wait(call, 'event:VM_STATE_CHANGED')
    await call('PUT', '/api/v1/machines/two/start')
    const before = events.head()
    await call('PUT', '/api/v1/machines/one/start')
    const { result, cursor } = (await changed).body
    expect([result, Number(cursor.split('-')[1])]).toEqual(['met', before.seq + 1])
    // The next one has happened already: from starting to running.
    const next = (await wait(call, 'event:VM_STATE_CHANGED', `&cursor=${cursor}&timeout=0`)).body
    expect(next).toMatchObject({ id, result: 'met' })
    expect((await wait(call, 'event:VM_STATE_CHANGED', `&cursor=${next.cursor}&timeout=0`)).body.result).toBe('timeout')
  })

  test('sees the deletion of its machine', async ({ call }) => {
    await create(call, false)
    const removed = wait(call, 'event:VM_REMOVED')
    await call('DELETE', '/api/v1/machines/one')
    expect((await removed).body).toMatchObject({ result: 'met' })
  })

  test('tells that events after the cursor are gone', async ({ call }) => {
    await create(call)
    expect((await wait(call, 'event:VM_ADDED', '&cursor=00000000-1')).body).toMatchObject({ result: 'met', gap: true })
  })
})

describe('a wait is refused', () => {
  test.for([
    'never',
    'agents',
    'serial:',
    'serial:(',
    'serial:((a{1000}){1000})',
    'serial:a{900}',
    'port:',
    'port:0',
    'port:65536',
    'port:x',
    'event:',
    'event:VM_STATE',
    'constructor',
    '',
  ])('with a condition that is none: %s', async (condition, { call }) => {
    await create(call)
    expect(await wait(call, condition)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('for') },
    })
  })

  test.for([
    ['running', '&cursor=1'],
    ['serial:x', '&cursor=00000000-1'],
    ['event:VM_ADDED', '&cursor=1'],
    ['running', '&timeout=301'],
  ] as const)('with a parameter that does not fit: %s %s', async ([condition, more], { call }) => {
    await create(call)
    expect((await wait(call, condition, more)).status).toBe(400)
  })

  test('to those without the right to what it looks at', async ({ call }) => {
    await create(call)
    for (const condition of ['serial:x', 'port:22']) {
      expect((await wait(call, condition, '&timeout=0', ['other', 'LIST_VM'])).status).toBe(403)
      expect((await wait(call, condition, '&timeout=0', ['other', 'LIST_VM', 'EXECUTE_COMMAND_VM'])).status).toBe(200)
    }
    expect((await wait(call, 'ip', '&timeout=0', ['other', 'LIST_VM'])).status).toBe(200)
    expect((await wait(call, 'ip', '&timeout=0', ['EXECUTE_COMMAND_VM'])).status).toBe(403)
  })

  test('beyond a hundred of one user', async ({ call }) => {
    await create(call)
    const statuses: number[] = []
    const waits = Array.from({ length: 101 }, async () => {
      statuses.push((await wait(call, 'ip')).status)
    })
    await until(() => expect(statuses).toEqual([503]))
    await call('PUT', '/api/v1/machines/one/stop')
    await Promise.all(waits)
    expect(statuses.filter(status => status === 200)).toHaveLength(100)
  })
})

test('a wait ends with the rights of its caller, and with the service', async ({ call, machines }) => {
  await create(call)
  const caller = { id: 'x', username: 'x', email: '', roles: [], claims: new Set(['LIST_VM']), superUser: false }
  const query = { for: 'ip', timeout: 300 }
  const signal = new AbortController().signal
  await expect(
    machines.wait('one', caller, query, {
      signal,
      reauthenticate: async () => {
        throw new ServiceError('unauthenticated', 'This session has ended.')
      },
    }),
  ).rejects.toThrow('session has ended')
  await expect(
    machines.wait('one', caller, query, {
      signal,
      reauthenticate: async () => ({ ...caller, claims: new Set<string>() }),
    }),
  ).rejects.toThrow('right')
  const waiting = wait(call, 'ip')
  await machines.drain()
  expect((await waiting).status).toBe(503)
})
