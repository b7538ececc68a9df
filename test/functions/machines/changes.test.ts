import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../support/harness.ts'

const demo = { name: 'One', memory: 64, disks: [{ size: 10 }] }
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('POST /v1/machines', () => {
  test('creates a machine', async ({ call }) => {
    expect(await call('POST', '/api/v1/machines', { body: demo, as: ['CREATE_VM'] })).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(uuid), name: 'One', owner: 'tester', current_state: 'stopped' },
    })
  })

  test('uses an image of the host in place', async ({ call, folder }) => {
    const path = join(folder, 'image.raw')
    await writeFile(path, 'x')
    const { body } = await call('POST', '/api/v1/machines', { body: { ...demo, name: 'attached', disks: [{ path }] } })
    expect((await call('GET', `/api/v1/machines/${body.id}`)).body[0].Hardware.hdd0.image).toBe(path)
  })

  test.for([
    ['no body', undefined, 'empty'],
    ['no name', {}, 'name'],
    ['a bad name', { name: 'a/b' }, 'name'],
    ['a name like a UUID', { name: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' }, 'name'],
    ['cpus as text', { ...demo, cpus: 'two' }, 'cpus'],
    ['no memory', { ...demo, memory: 0 }, 'memory'],
    ['a relative disk', { ...demo, disks: [{ path: '../x' }] }, 'disks'],
    ['a disk that is not there', { ...demo, disks: [{ path: '/nowhere/x.img' }] }, '/nowhere/x.img'],
    ['a kernel that is not there', { ...demo, kernel: '/nowhere/vmlinuz' }, '/nowhere/vmlinuz'],
    [
      'members that nobody knows',
      { ...demo, iso: '/x.iso', cpu: 4 },
      'iso and cpu: not known here; a machine has name,',
    ],
    [
      'members of a disk that nobody knows',
      { ...demo, disks: [{ size: 1, format: 'raw' }] },
      'disks.0: format: not known',
    ],
    ['a size beside a path', { ...demo, disks: [{ path: '/x.img', size: 1 }] }, 'disks.0: has a path and a size'],
    ['a disk that is none', { ...demo, disks: [{ size: 1 }, null] }, 'disks.1: must have a path'],
    ['more memory than the host has', { ...demo, memory: 1_048_577 }, 'which is 1048576 MB'],
    ['more CPUs than the host has', { ...demo, cpus: 65 }, 'which is 64'],
    [
      'disks that the file system can never hold',
      { ...demo, disks: [{ size: 60_000_000 }, { size: 40_000_001 }] },
      'disks: 100000001 MB are more than the file system of the machines has, which is 100000000 MB',
    ],
  ] as const)('refuses %s by name and creates nothing', async ([, body, named], { call }) => {
    expect(await call('POST', '/api/v1/machines', { body })).toMatchObject({
      status: 400,
      body: { code: 400, message: expect.stringContaining(named) },
    })
    expect((await call('GET', '/api/v1/machines')).body).toEqual([])
  })

  test('refuses a name in use, in any case, also for two requests at once', async ({ call, driver }) => {
    driver.delay = 30
    const both = await Promise.all([
      call('POST', '/api/v1/machines', { body: demo }),
      call('POST', '/api/v1/machines', { body: { ...demo, name: 'ONE' } }),
    ])
    expect(both.map(answer => answer.status).sort((a, b) => a - b)).toEqual([201, 409])
  })
})

describe('PUT /v1/machines/{id}/clone', () => {
  test('creates an independent machine', async ({ call }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    const clone = await call('PUT', '/api/v1/machines/one/clone', { body: { clone_name: 'Two' } })
    expect(clone).toMatchObject({ status: 200, body: { id: expect.stringMatching(uuid), status: 'Success' } })
    expect(clone.body.id).not.toBe(made.id)
    expect(await call('PUT', '/api/v1/machines/one/clone', { body: { clone_name: 'two' } })).toMatchObject({
      status: 409,
    })
    expect(await call('PUT', '/api/v1/machines/one/clone', { body: {} })).toMatchObject({ status: 400 })
  })

  test('the source of a linked clone cannot be deleted', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    await call('PUT', '/api/v1/machines/one/clone?linked=true', { body: { clone_name: 'Two' } })
    expect(await call('DELETE', '/api/v1/machines/one?force=true')).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Two') },
    })
    await call('DELETE', '/api/v1/machines/two')
    expect(await call('DELETE', '/api/v1/machines/one')).toMatchObject({ status: 202 })
  })
})

describe('DELETE /v1/machines/{id}', () => {
  test('deletes a stopped machine, and a running one only by force', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    await call('PUT', '/api/v1/machines/one/start')
    expect(await call('DELETE', '/api/v1/machines/one')).toMatchObject({ status: 409 })
    expect(await call('DELETE', '/api/v1/machines/one?force=true')).toMatchObject({
      status: 202,
      body: { code: 202, message: expect.stringContaining('one') },
    })
    expect(await call('GET', '/api/v1/machines/one')).toMatchObject({ status: 404 })
  })
})

describe('PUT /v1/machines/{id}/set', () => {
  const set = (group: string, operation: string, value?: unknown) => ({ group, operation, value })

  test.for([
    ['cpu', '1000', 'cpus: 1000 are more than the host has, which is 64'],
    ['memory', '99999999', 'memory: 99999999 MB are more than the host has, which is 1048576 MB'],
  ] as const)(
    '%s %s: the limit of the host is told, not that of all machines',
    async ([group, value, told], { call }) => {
      await call('POST', '/api/v1/machines', { body: demo })
      const { status, body } = await call('PUT', '/api/v1/machines/one/set', {
        body: { operations: [set(group, 'set', value)] },
      })
      expect({ status, message: body.message }).toEqual({ status: 400, message: expect.stringContaining(told) })
    },
  )

  test('changes name, description, cpus and memory together', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const operations = [
      set('cpu', 'set', '4'),
      set('memory', 'set', 2048),
      set('machine', 'rename', 'Uno'),
      set('description', 'set', 'first of many'),
    ]
    const answer = await call('PUT', '/api/v1/machines/one/set', { body: { owner: 'dev', operations } })
    expect(answer.status).toBe(200)
    expect(answer.body.operations).toEqual(
      operations.map(({ group, operation }) => ({ group, operation, status: 'Success', error: '' })),
    )
    expect((await call('GET', '/api/v1/machines/uno')).body[0]).toMatchObject({
      Description: 'first of many',
      Hardware: { cpu: { cpus: 4 }, memory: { size: '2048Mb' } },
    })
  })

  test('changes nothing when one operation is wrong, and says which', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const operations = [set('cpu', 'set', '4'), set('rosetta', 'set', 'on'), set('memory', 'set', 'lots')]
    const answer = await call('PUT', '/api/v1/machines/one/set', { body: { operations } })
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 400,
        message: expect.stringContaining('unsupported'),
        operations: [
          { status: 'Skipped', error: '' },
          { status: 'Error', error: expect.stringContaining('rosetta') },
          { status: 'Error', error: expect.stringContaining('MB') },
        ],
      },
    })
    expect((await call('GET', '/api/v1/machines/one')).body[0].Hardware.cpu.cpus).toBe(1)
  })

  test('refuses a network that there is not', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const body = { operations: [set('network', 'set', 'shared')] }
    const answer = await call('PUT', '/api/v1/machines/one/set', { body })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('must be isolated') } })
  })

  test('a dry run shows the changes and applies none', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const operations = [set('cpu', 'set', '4'), set('cpu', 'set', '6')]
    const answer = await call('PUT', '/api/v1/machines/one/set?dry_run=true', { body: { operations } })
    expect(answer.body.operations.map((one: { change: object }) => one.change)).toEqual([
      { field: 'cpus', from: 1, to: 4 },
      { field: 'cpus', from: 4, to: 6 },
    ])
    expect((await call('GET', '/api/v1/machines/one')).body[0].Hardware.cpu.cpus).toBe(1)
  })

  test('refuses more than the host has', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    for (const [group, value, limit] of [
      ['cpu', '65', '64'],
      ['memory', '1048577', '1048576 MB'],
    ] as const)
      expect(
        await call('PUT', '/api/v1/machines/one/set', { body: { operations: [set(group, 'set', value)] } }),
      ).toMatchObject({ status: 400, body: { message: expect.stringContaining(`which is ${limit}`) } })
    expect((await call('GET', '/api/v1/machines/one')).body[0].Hardware.cpu.cpus).toBe(1)
  })

  test('refuses disks that the file system of the host can never hold, also in a dry run', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: { ...demo, disks: [{ size: 60_000_000 }] } })
    const operations = [
      { ...set('device', 'add', 'hdd'), options: [{ flag: 'size', value: '40000001' }] },
      { ...set('device', 'set', 'hdd0'), options: [{ flag: 'size', value: '60000001' }] },
    ]
    for (const query of ['', '?dry_run=true']) {
      const answer = await call('PUT', `/api/v1/machines/one/set${query}`, { body: { operations } })
      expect(answer).toMatchObject({
        status: 400,
        body: {
          message: expect.stringContaining('disks: 100000001 MB are more than the file system'),
          operations: [{ status: 'Error' }, {}],
        },
      })
    }
  })

  test('changes the fields of a running machine that can change, and refuses the others', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    await call('PUT', '/api/v1/machines/one/start')
    const renamed = { operations: [set('machine', 'rename', 'Uno')] }
    expect(await call('PUT', '/api/v1/machines/one/set', { body: renamed })).toMatchObject({ status: 200 })
    const grown = { operations: [set('cpu', 'set', '4')] }
    expect(await call('PUT', '/api/v1/machines/uno/set', { body: grown })).toMatchObject({ status: 409 })
  })

  test('runs an action with the right of its own endpoint, and alone', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const start = { operations: [set('state', 'start')] }
    const path = '/api/v1/machines/one/set'
    expect(await call('PUT', path, { body: start, as: ['UPDATE_VM'] })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('UPDATE_VM_STATES') },
    })
    expect(await call('PUT', `${path}?dry_run=true`, { body: start })).toMatchObject({ status: 200 })
    expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('stopped')
    expect(await call('PUT', path, { body: start, as: ['UPDATE_VM', 'UPDATE_VM_STATES'] })).toMatchObject({
      status: 200,
      body: { operations: [{ group: 'state', operation: 'start', status: 'Success', error: '' }] },
    })
    expect((await call('GET', '/api/v1/machines/one/status')).body.status).toBe('running')
    await call('PUT', '/api/v1/machines/one/stop')
    const clone = set('machine', 'clone', 'Two')
    expect(await call('PUT', path, { body: { operations: [clone] }, as: ['UPDATE_VM'] })).toMatchObject({ status: 403 })
    expect(await call('PUT', path, { body: { operations: [clone, set('cpu', 'set', '2')] } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('only operation') },
    })
    expect(await call('PUT', path, { body: { operations: [clone] } })).toMatchObject({ status: 200 })
    expect((await call('GET', '/api/v1/machines/two')).status).toBe(200)
  })

  test('adds and removes a card; the record and a dry run name it', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    const path = '/api/v1/machines/one/set'
    const added = { operations: [set('device', 'add', 'net')] }
    expect((await call('PUT', `${path}?dry_run=true`, { body: added })).body.operations).toMatchObject([
      { change: { field: 'net1', from: 'none', to: expect.stringContaining('isolated') }, effect: 'now' },
    ])
    expect(await call('PUT', path, { body: added })).toMatchObject({ status: 200 })
    expect((await call('GET', '/api/v1/machines/one')).body[0].Hardware).toMatchObject({
      net0: { enabled: true },
      net1: { enabled: true, type: 'isolated', card: 'e1000' },
    })
    const removed = { operations: [set('device', 'remove', 'net0')] }
    expect(await call('PUT', path, { body: removed })).toMatchObject({ status: 200 })
    expect((await call('GET', '/api/v1/machines/one')).body[0].Hardware).toMatchObject({
      net0: { enabled: false },
      net1: { enabled: true },
    })
    const empty = { ...set('device', 'add', 'net'), options: null, flags: null, error: null }
    expect(await call('PUT', path, { body: { operations: [empty] } })).toMatchObject({ status: 200 })
    const option = { ...set('device', 'add', 'net'), options: [{ flag: 'speed', value: '9' }] }
    expect(await call('PUT', path, { body: { operations: [option] } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('speed: unsupported by device add') },
    })
  })

  test('refuses one of two renames onto one name that come at once', async ({ call, driver }) => {
    for (const name of ['One', 'Two']) await call('POST', '/api/v1/machines', { body: { ...demo, name } })
    driver.delay = 30
    const body = { operations: [set('machine', 'rename', 'Three')] }
    const both = await Promise.all(['One', 'Two'].map(name => call('PUT', `/api/v1/machines/${name}/set`, { body })))
    expect(both.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409])
  })

  test('refuses a rename onto a name in use, and an empty list', async ({ call }) => {
    for (const name of ['One', 'Two']) await call('POST', '/api/v1/machines', { body: { ...demo, name } })
    const body = { operations: [set('machine', 'rename', 'TWO')] }
    expect(await call('PUT', '/api/v1/machines/one/set', { body })).toMatchObject({ status: 409 })
    expect(await call('PUT', '/api/v1/machines/one/set', { body: { operations: [] } })).toMatchObject({ status: 400 })
    expect(await call('PUT', '/api/v1/machines/one/set', { body: { operations: [{ group: '' }] } })).toMatchObject({
      status: 400,
    })
  })
})
