import { describe, expect } from 'vitest'
import { host, test } from '../../support/harness.ts'
import { specRecord } from '../../support/spec-record.ts'

const demo = { name: 'One', memory: 64, disks: [{ size: 10 }] }

/** What a record has, as path → JSON type. */
const shapeOf = (value: unknown, path = ''): [string, string][] => {
  if (Array.isArray(value)) return [[path, 'array']]
  if (typeof value !== 'object' || value === null) return [[path, value === null ? 'null' : typeof value]]
  const members = Object.entries(value)
  return members.length === 0
    ? [[path, 'map']]
    : members.flatMap(([key, member]) => shapeOf(member, path === '' ? key : `${path} / ${key}`))
}

describe('GET /v1/machines/{id}', () => {
  test('returns an array of one record with the keys and types of the spec', async ({ call }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    const { status, body } = await call('GET', `/api/v1/machines/${made.id.toUpperCase()}`)
    expect(status).toBe(200)
    expect(body).toHaveLength(1)
    const { owner, ...record } = body[0]
    expect(owner).toEqual(expect.any(String))
    expect(Object.fromEntries(shapeOf(record))).toEqual(specRecord)
    expect(body[0]).toMatchObject({
      ID: made.id,
      Name: 'One',
      State: 'stopped',
      host: host.name,
      host_url: host.url,
      Hardware: { cpu: { cpus: 1 }, memory: { size: '64Mb' }, hdd0: { enabled: true, size: '10Mb' } },
    })
  })

  test('finds a machine by its name in any case', async ({ call }) => {
    await call('POST', '/api/v1/machines', { body: demo })
    expect((await call('GET', '/api/v1/machines/oNE')).body[0].Name).toBe('One')
    expect(await call('GET', '/api/v1/machines/two')).toMatchObject({ status: 404 })
  })
})

describe('GET /v1/machines', () => {
  test('returns an empty list without machines, else the machines by name', async ({ call }) => {
    expect(await call('GET', '/api/v1/machines')).toMatchObject({ status: 200, body: [] })
    for (const name of ['b', 'a', 'c']) await call('POST', '/api/v1/machines', { body: { ...demo, name } })
    const { body } = await call('GET', '/api/v1/machines', { as: ['LIST_VM'] })
    expect(body.map((record: { Name: string }) => record.Name)).toEqual(['a', 'b', 'c'])
  })

  test('returns 304 to a client with the present list, until something changes', async ({ call, driver }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    const ask = async (etag = '') => call('GET', '/api/v1/machines', { headers: { 'if-none-match': etag } })
    const first = (await ask()).headers.get('etag')!
    expect(await ask(first)).toMatchObject({ status: 304, body: undefined })
    expect(await ask(`"other", W/${first}`)).toMatchObject({ status: 304 })
    driver.simulateChange(made.id, 'running')
    const changed = await ask(first)
    expect(changed).toMatchObject({ status: 200, body: [{ State: 'running' }] })
    expect(changed.headers.get('etag')).not.toBe(first)
    expect(changed.headers.get('vary')).toBe('Authorization, X-Api-Key, X-Filter')
  })

  test('shows changes of a machine that no request caused', async ({ call, driver }) => {
    const { body: made } = await call('POST', '/api/v1/machines', { body: demo })
    await call('PUT', '/api/v1/machines/one/start')
    driver.simulateChange(made.id, 'stopped', 'crashed')
    expect((await call('GET', '/api/v1/machines')).body[0]).toMatchObject({ State: 'stopped', problem: 'crashed' })
    expect((await call('GET', '/api/v1/machines/one/status')).body).toMatchObject({
      status: 'stopped',
      problem: 'crashed',
    })
    expect((await call('GET', '/api/v1/machines/one')).body[0].problem).toBe('crashed')
  })
})
