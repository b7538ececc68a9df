import { describe, expect } from 'vitest'
import { test } from '../../support/harness.ts'

const demo = { name: 'One', memory: 64, disks: [{ size: 10 }] }
const forwards = '/api/v1/machines/one/forwards'
const ssh = { host_port: 8022, guest_port: 22 }
const complete = { protocol: 'tcp', host_address: '127.0.0.1', ...ssh }

describe('forwards of a machine', () => {
  test('are added, listed and deleted', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    expect(await call('GET', forwards, { as: ['LIST_VM'] })).toMatchObject({ status: 200, body: [] })
    expect(await call('POST', forwards, { body: ssh, as: ['UPDATE_VM'] })).toMatchObject({
      status: 201,
      body: { id: 'tcp:127.0.0.1:8022', ...complete },
    })
    const dns = { protocol: 'udp', host_address: '127.0.0.2', host_port: 8022, guest_port: 53 }
    expect(await call('POST', forwards, { body: dns })).toMatchObject({ status: 201 })
    expect((await call('GET', forwards)).body).toEqual([
      { id: 'tcp:127.0.0.1:8022', ...complete },
      { id: 'udp:127.0.0.2:8022', ...dns },
    ])
    expect(await call('DELETE', `${forwards}/tcp:127.0.0.1:8022`, { as: ['UPDATE_VM'] })).toMatchObject({ status: 202 })
    expect(await call('DELETE', `${forwards}/tcp:127.0.0.1:8022`)).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('tcp:127.0.0.1:8022') },
    })
    expect((await call('GET', forwards)).body).toHaveLength(1)
  })

  test.for([
    ['a port below 1024', { ...ssh, host_port: 22 }, 400, '1024'],
    ['no port of the guest', { host_port: 8022 }, 400, 'guest_port'],
    ['unknown members', { ...ssh, address: '127.0.0.1' }, 400, 'address: not known here'],
    ['a name for an address', { ...ssh, host_address: 'localhost' }, 400, 'host_address'],
    ['an address that nobody allowed', { ...ssh, host_address: '0.0.0.0' }, 403, 'forward_addresses'],
  ] as const)('refuses %s by name, also in a new machine', async ([, forward, status, named], { call }) => {
    const refusal = { status, body: { code: status, message: expect.stringContaining(named) } }
    await call('POST', '/api/v1/machines', { body: demo })
    expect(await call('POST', forwards, { body: forward })).toMatchObject(refusal)
    expect((await call('GET', forwards)).body).toEqual([])
    const other = { ...demo, name: 'two', forwards: [forward] }
    expect(await call('POST', '/api/v1/machines', { body: other })).toMatchObject(refusal)
    expect((await call('GET', '/api/v1/machines')).body).toHaveLength(1)
  })

  test('refuses a port of another machine, and names both', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: { ...demo, forwards: [ssh] } })
    const refusal = { status: 409, body: { message: expect.stringMatching(/tcp:127\.0\.0\.1:8022 .* One/) } }
    expect(await call('POST', '/api/v1/machines', { body: { ...demo, name: 'two', forwards: [ssh] } })).toMatchObject(
      refusal,
    )
    await call('POST', '/api/v1/machines', { body: { ...demo, name: 'two' } })
    expect(await call('POST', '/api/v1/machines/two/forwards', { body: ssh })).toMatchObject(refusal)
    const otherAddress = { ...ssh, host_address: '127.0.0.2' }
    expect(await call('POST', '/api/v1/machines/two/forwards', { body: otherAddress })).toMatchObject({ status: 201 })
  })

  test('cannot be changed while the machine is suspended', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    await call('PUT', '/api/v1/machines/one/start')
    expect(await call('POST', forwards, { body: ssh })).toMatchObject({ status: 201 })
    await call('PUT', '/api/v1/machines/one/suspend')
    expect(await call('DELETE', `${forwards}/tcp:127.0.0.1:8022`)).toMatchObject({ status: 409 })
  })
})

describe('the network of a new machine', () => {
  test.for([
    ['nothing', {}, 'isolated', ['isolated']],
    ['a mode', { network: 'nat' }, 'nat', ['isolated', 'nat']],
    [
      'several cards',
      { networks: [{ mode: 'bridge:br0' }, { mode: 'network:lab', card: 'e1000' }] },
      'bridge:br0, network:lab',
      ['bridge:br0', 'network:lab'],
    ],
    ['no card', { networks: [] }, undefined, []],
  ] as const)('is what the request says: %s', async ([, members, network, modes], { call, driver }) => {
    const created = await call('POST', '/api/v1/machines', { body: { ...demo, ...members } })
    expect(created.status).toBe(201)
    expect(created.body.network).toBe(network)
    const { definition } = (await driver.get(created.body.id))!
    expect(definition.networks.map(({ mode }) => mode)).toEqual(modes)
    expect(new Set(definition.networks.map(({ mac }) => mac)).size).toBe(modes.length)
    expect(definition.networks.map(({ name }) => name)).toEqual(modes.map((_, at) => `net${at}`))
  })

  test.for([
    ['an unknown mode', { network: 'shared' }, 'network'],
    ['a mode beside cards', { network: 'nat', networks: [] }, 'network and networks'],
    ['two nat cards', { networks: [{ mode: 'nat' }, { mode: 'nat' }] }, 'one nat card'],
    ['a member of a card that nobody knows', { networks: [{ mode: 'nat', vlan: 1 }] }, 'vlan: not known here'],
    ['forwards without their card', { networks: [{ mode: 'bridge:br0' }], forwards: [ssh] }, 'forwards'],
  ] as const)('refuses %s by name and creates nothing', async ([, members, named], { call }) => {
    expect(await call('POST', '/api/v1/machines', { body: { ...demo, ...members } })).toMatchObject({
      status: 400,
      body: { code: 400, message: expect.stringContaining(named) },
    })
    expect((await call('GET', '/api/v1/machines')).body).toEqual([])
  })
})
