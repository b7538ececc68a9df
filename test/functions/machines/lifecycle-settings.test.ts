import { describe, expect } from 'vitest'
import { type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const one = '/api/v1/machines/one'

const create = async (call: Call, members: object = {}): Promise<void> => {
  const { status } = await call('POST', '/api/v1/machines', { body: { name: 'one', memory: 64, ...members } })
  expect(status).toBe(201)
}
const set = (call: Call, group: string, operation: string, value: unknown = '', query = '', others: object = {}) =>
  call('PUT', `${one}/set${query}`, { body: { operations: [{ group, operation, value, ...others }] } })
const change = async (call: Call, group: string, operation: string, value: unknown = ''): Promise<void> => {
  const { status, body } = await set(call, group, operation, value)
  expect(status, JSON.stringify(body)).toBe(200)
}
const show = async (call: Call) => (await call('GET', one)).body[0]
const verb = async (call: Call, name: string): Promise<void> =>
  expect((await call('PUT', `${one}/${name}`)).status).toBe(200)

describe('labels of a machine', () => {
  test('are added, replaced one by one and as a whole, and removed', async ({ call }) => {
    await create(call, { labels: { team: 'web' } })
    await change(call, 'labels', 'add', 'team=build, ci=yes')
    expect((await show(call)).labels).toEqual({ team: 'build', ci: 'yes' })
    await change(call, 'labels', 'remove', 'ci')
    expect((await show(call)).labels).toEqual({ team: 'build' })
    await change(call, 'labels', 'set', 'example.org/zone=a,empty=')
    expect((await show(call)).labels).toEqual({ 'example.org/zone': 'a', empty: '' })
    expect((await call('GET', '/api/v1/machines?labels=empty')).body).toHaveLength(1)
    await change(call, 'labels', 'set')
    expect(await show(call)).not.toHaveProperty('labels')
  })

  test('change the list for those who have its tag', async ({ call }) => {
    await create(call)
    const { headers } = await call('GET', '/api/v1/machines')
    await change(call, 'labels', 'add', 'team=build')
    const again = await call('GET', '/api/v1/machines', { headers: { 'if-none-match': headers.get('etag')! } })
    expect([again.status, again.body[0].labels]).toEqual([200, { team: 'build' }])
  })

  test.for([
    ['add', 'team', 'NAME=VALUE'],
    ['add', '', 'NAME=VALUE'],
    ['add', 'team=a=b', 'NAME=VALUE'],
    ['add', 'team=a,team=b', 'each name once'],
    ['add', '-x=1', 'letter or digit at both ends'],
    ['add', 'x=-1', 'letter or digit at both ends'],
    ['add', Array.from({ length: 64 }, (_, at) => `n${at}=1`).join(), 'at most 64'],
    ['remove', 'colour', 'no label colour; it has team'],
    ['remove', '', 'letter or digit at both ends'],
    ['remove', 'constructor', 'no label constructor'],
    ['replace', 'a=b', 'the group has only add, remove, set'],
  ])('%s %j is refused by name', async ([operation, value, message], { call }) => {
    await create(call, { labels: { team: 'web' } })
    expect(await set(call, 'labels', operation!, value)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message!) },
    })
    expect((await show(call)).labels).toEqual({ team: 'web' })
  })
})

describe('the time to live', () => {
  test('counts from when it is set, and is removed', async ({ call }) => {
    await create(call)
    const before = Date.now()
    await change(call, 'ttl', 'set', 3600)
    const expiry = Date.parse((await show(call)).expires_at)
    expect(expiry).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(expiry).toBeLessThanOrEqual(Date.now() + 3_600_000)
    await change(call, 'ttl', 'remove')
    expect(await show(call)).not.toHaveProperty('expires_at')
  })

  test('ends a machine that had none', async ({ call }) => {
    await create(call)
    await verb(call, 'start')
    await change(call, 'ttl', 'set', '1')
    await until(async () => expect((await call('GET', one)).status).toBe(404), 10)
  })

  test.for(['0', '-1', '1.5', '40000000', 'soon', ''])('refuses %j', async (value, { call }) => {
    await create(call)
    expect(await set(call, 'ttl', 'set', value)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('ttl set') },
    })
  })
})

describe('ephemeral', () => {
  test('is set on a machine that then goes with its next stop, not before', async ({ call }) => {
    await create(call)
    await change(call, 'ephemeral', 'set', 'on')
    expect((await show(call)).ephemeral).toBe(true)
    await verb(call, 'start')
    await verb(call, 'stop')
    await until(async () => expect((await call('GET', one)).status).toBe(404), 10)
  })

  test('is taken back before the stop', async ({ call }) => {
    await create(call, { ephemeral: true })
    await verb(call, 'start')
    await change(call, 'ephemeral', 'set', 'false')
    await verb(call, 'stop')
    expect(await show(call)).toMatchObject({ State: 'stopped' })
    expect(await show(call)).not.toHaveProperty('ephemeral')
  })

  test('holds for a guest that ends while a setting of its machine is changed', async ({ call, driver }) => {
    await create(call, { ephemeral: true })
    await verb(call, 'start')
    const { ID: id } = await show(call)
    driver.delay = 50
    const changing = change(call, 'labels', 'add', 'team=build')
    await until(async () => expect((await show(call)).State).toBe('configuring'))
    driver.simulateChange(id, 'stopped')
    await changing
    await until(async () => expect((await call('GET', one)).status).toBe(404), 10)
  })

  test('is refused with another word', async ({ call }) => {
    await create(call)
    expect(await set(call, 'ephemeral', 'set', 'maybe')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('on or off') },
    })
  })
})

test('autostart and restart are set one by one, and the record shows them', async ({ call }) => {
  await create(call)
  await change(call, 'autostart', 'enabled', 'on')
  await change(call, 'autostart', 'order', 5)
  await change(call, 'autostart', 'delay', '30')
  await change(call, 'restart', 'set', 'on-crash')
  expect(await show(call)).toMatchObject({
    autostart: { enabled: true, order: 5, delay: 30 },
    restart: 'on-crash',
    'Startup and Shutdown': { Autostart: 'start-host', 'Autostart delay': 30 },
  })
  for (const [group, operation, value] of [
    ['autostart', 'enabled', 'perhaps'],
    ['autostart', 'order', '10000'],
    ['autostart', 'delay', '-1'],
    ['autostart', 'set', 'on'],
    ['restart', 'set', 'always'],
  ] as const)
    expect((await set(call, group, operation, value)).status, `${group} ${operation}`).toBe(400)
})

test('a setting that takes a value alone refuses options and flags by name', async ({ call }) => {
  await create(call)
  const option = await set(call, 'ttl', 'set', '60', '', { options: [{ flag: 'unit', value: 'hours' }] })
  const flag = await set(call, 'labels', 'set', 'a=b', '', { flags: ['--force'] })
  expect([option.status, option.body.message]).toEqual([400, expect.stringContaining('unit')])
  expect([flag.status, flag.body.message]).toEqual([400, expect.stringContaining('force')])
})

test('a dry run says what would change, and that it applies now, and changes nothing', async ({ call }) => {
  await create(call, { labels: { team: 'web' } })
  const operations = [
    { group: 'labels', operation: 'add', value: 'ci=yes' },
    { group: 'ttl', operation: 'set', value: '60' },
    { group: 'ephemeral', operation: 'set', value: 'on' },
    { group: 'autostart', operation: 'enabled', value: 'on' },
    { group: 'restart', operation: 'set', value: 'on-crash' },
  ]
  const { body } = await call('PUT', `${one}/set?dry_run=true`, { body: { operations } })
  expect(body.operations).toMatchObject([
    { change: { field: 'labels', from: 'team=web', to: 'team=web,ci=yes' }, effect: 'now' },
    { change: { field: 'expires_at', from: 'none', to: expect.stringMatching(/^\d{4}-/) }, effect: 'now' },
    { change: { field: 'ephemeral', from: 'off', to: 'on' }, effect: 'now' },
    { change: { field: 'autostart enabled', from: 'off', to: 'on' }, effect: 'now' },
    { change: { field: 'restart', from: 'never', to: 'on-crash' }, effect: 'now' },
  ])
  expect(await show(call)).toMatchObject({ labels: { team: 'web' } })
  expect(await show(call)).not.toHaveProperty('restart')
})

describe('settings of other hypervisors', () => {
  test('are taken with the value that every machine has, and change nothing', async ({ call }) => {
    await create(call)
    const { Uptime: _, ...before } = await show(call)
    for (const [group, operation, value] of [
      ['time', 'time-sync', false],
      ['time', 'disable-timezone-synct', 'off'],
      ['boot-order', 'select-boot-device', 'off'],
      ['efi-secure-boot', 'external-boot-device', ''],
      ['rosetta', 'set', 'off'],
    ] as const)
      await change(call, group, operation, value)
    const { Uptime: __, ...after } = await show(call)
    expect(after).toEqual(before)
  })

  test.for([
    ['time', 'time-sync', 'on', 'every machine has off'],
    ['time', 'time-sync-interval', '30', 'every machine has 60'],
    ['boot-order', 'external-boot-device', 'usb0', 'every machine has none'],
    ['rosetta', 'set', 'true', 'every machine has off'],
  ])('%s %s %s is refused', async ([group, operation, value, message], { call }) => {
    await create(call)
    expect(await set(call, group!, operation!, value)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message!) },
    })
  })

  test('of a command are set as options, all or none', async ({ call }) => {
    await create(call)
    const options = [
      { flag: 'autostart', value: 'start-host' },
      { flag: '--autostart-delay', value: '15' },
      { flag: 'startup-view', value: 'headless' },
      { flag: 'pause-idle', value: 'off' },
    ]
    expect((await set(call, 'cmd', 'set', '', '', { options })).status).toBe(200)
    expect(await show(call)).toMatchObject({ autostart: { enabled: true, delay: 15 } })
    for (const others of [
      { options: [...options.slice(0, 1), { flag: 'startup-view', value: 'window' }] },
      {
        options: [
          { flag: 'autostart', value: 'off' },
          { flag: 'nested-virt', value: 'on' },
        ],
      },
      { flags: ['delete'] },
      {},
    ])
      expect((await set(call, 'cmd', 'set', '', '', others)).status, JSON.stringify(others)).toBe(400)
    expect(await set(call, 'cmd', 'delete', '', '', { options })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('the group has only set') },
    })
    expect((await show(call)).autostart).toMatchObject({ enabled: true })
  })
})

test.for(['pause', 'suspend'])(
  'labels change in every state, hardware beside them not: after %s',
  async (name, { call }) => {
    await create(call)
    await verb(call, 'start')
    await verb(call, name)
    await change(call, 'labels', 'add', 'team=build')
    const operations = [
      { group: 'labels', operation: 'add', value: 'ci=yes' },
      { group: 'memory', operation: 'set', value: '32' },
    ]
    expect((await call('PUT', `${one}/set`, { body: { operations } })).status).toBe(409)
    expect((await show(call)).labels).toEqual({ team: 'build' })
  },
)
