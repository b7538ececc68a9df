import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openControl, type Control } from '../../support/hosts/control.ts'
import { type ControlClient, openClient } from '../../support/hosts/control-client.ts'
import { newFolder } from '../../support/folder.ts'
import { openStore } from '#lib/storage/open-store.ts'

const url = 'https://host-a.example.test:8443'
const report = {
  version: '0.1.0',
  driver: 'embedded',
  architecture: 'x86_64',
  capacity: { cpus: 4, memory: 8_000, free_memory: 4_000 },
}
const machine = (digit: number, name: string) => ({ ID: `00000000-0000-4000-8000-00000000000${digit}`, Name: name })
const event = (digit: number, message: string) => ({
  id: `${digit}`.repeat(64),
  event_type: 'pdfm',
  timestamp: '2026-06-01T00:00:00.000Z',
  message,
  body: { vm_id: machine(digit, '').ID },
})

let control: Control
let client: ControlClient
beforeEach(async () => {
  control = await openControl()
  client = await openClient(control.app)
})
afterEach(async () => {
  vi.useRealTimers()
  await control[Symbol.asyncDispose]()
})

const register = async (name = 'a', more: object = {}) => {
  const { status, body } = await client.asRoot('POST', '/hosts', { name, url, ...more })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}
const beat = (host: { id: string; key: string }, more: object = {}) =>
  client.ask('PUT', `/hosts/${host.id}/heartbeat`, {
    headers: { 'x-host-key': host.key },
    body: { ...report, ...more },
  })
const eventsOf = async (...types: string[]) =>
  (await client.asRoot('GET', `/events?limit=1000`)).body.events.filter(({ event_type }: { event_type: string }) =>
    types.includes(event_type),
  )

describe('hosts', () => {
  test('are registered, listed, shown, changed, drained and removed', async () => {
    const { key, ...host } = await register('Host-A', { labels: { zone: 'a' } })
    expect(host).toMatchObject({
      name: 'Host-A',
      url,
      labels: { zone: 'a' },
      state: 'new',
      drained: false,
      machines: 0,
    })
    expect(key).toMatch(new RegExp(`^${host.id}\\.[0-9a-f]{64}$`))
    expect((await client.asRoot('GET', '/hosts')).body).toEqual([host])
    for (const reference of [host.id, 'host-a'])
      expect((await client.asRoot('GET', `/hosts/${reference}`)).body).toEqual(host)
    expect((await client.asRoot('PUT', '/hosts/host-a', { labels: { zone: 'b' } })).body.labels).toEqual({ zone: 'b' })
    expect((await client.asRoot('PUT', '/hosts/host-a', { url: 'http://far.example.test' })).status).toBe(400)
    expect((await client.asRoot('PUT', '/hosts/host-a/drain')).body.drained).toBe(true)
    expect((await client.asRoot('PUT', '/hosts/host-a/undrain')).body.drained).toBe(false)
    expect(await client.asRoot('DELETE', '/hosts/host-a')).toMatchObject({ status: 202, body: { code: 202 } })
    expect((await client.asRoot('GET', '/hosts/host-a')).status).toBe(404)
    const told = (await eventsOf('orchestrator')).map(({ message }: { message: string }) => message)
    expect(told).toEqual(['HOST_ADDED', 'HOST_UPDATED', 'HOST_UPDATED', 'HOST_UPDATED', 'HOST_REMOVED'])
  })

  test('have a unique name and a safe address', async () => {
    await register('a')
    for (const [body, status] of [
      [{ name: 'A', url }, 409],
      [{ name: 'b', url: 'http://host-b.example.test' }, 400],
      [{ name: 'b', url: 'ftp://host-b.example.test' }, 400],
      [{ name: 'b', url: 'https://me:secret@host-b.example.test' }, 400],
      [{ name: 'b', url: 'https://host-b.example.test/path' }, 400],
      [{ name: 'b?c', url }, 400],
      [{ name: '00000000-0000-4000-8000-000000000001', url }, 400],
      [{ name: 'b', url, nonsense: 1 }, 400],
      [{ name: 'b', url: 'http://127.0.0.1:8080' }, 201],
      [{ name: 'c', url: 'http://[::1]:8080' }, 201],
    ] as const)
      expect((await client.asRoot('POST', '/hosts', body)).status, JSON.stringify(body)).toBe(status)
  })

  test('are registered by super users alone, and the key is in no other reply and not in the audit', async () => {
    const token = await client.signInWith('operator', ['LIST_HOST', 'CREATE_HOST', 'UPDATE_HOST', 'DELETE_HOST'])
    expect((await client.ask('POST', '/hosts', { token, body: { name: 'x', url } })).status).toBe(403)
    const { key } = await register('a')
    expect((await client.ask('PUT', '/hosts/a', { token, body: { url } })).status).toBe(403)
    expect((await client.ask('PUT', '/hosts/a/drain', { token })).status).toBe(200)
    const secret = key.split('.')[1]
    for (const path of ['/hosts', '/hosts/a', '/audit', '/events?limit=1000'])
      expect(JSON.stringify((await client.asRoot('GET', path)).body)).not.toContain(secret)
  })
})

describe('a heartbeat', () => {
  test('is taken with the key of its host only', async () => {
    const [a, b] = [await register('a'), await register('b')]
    expect((await beat(a)).status).toBe(200)
    for (const wrong of [
      { ...a, key: b.key },
      { ...b, key: a.key },
      { ...a, key: `${a.id}.${'0'.repeat(64)}` },
      { ...a, key: '' },
      { id: '00000000-0000-4000-8000-00000000dead', key: `00000000-0000-4000-8000-00000000dead.${'0'.repeat(64)}` },
    ])
      expect((await beat(wrong)).status).toBe(401)
    await client.asRoot('DELETE', '/hosts/a')
    expect((await beat(a)).status).toBe(401)
  })

  test('is not audited, unless it is refused', async () => {
    const host = await register()
    await beat(host)
    await beat({ ...host, key: 'wrong' })
    const { body } = await client.asRoot('GET', '/audit?operation=hosts/heartbeat')
    expect(body.entries).toMatchObject([{ status: 401 }])
  })

  test('brings the state and the machines of the host', async () => {
    const host = await register()
    const [one, two] = [machine(1, 'one'), machine(2, 'two')]
    const first = { machines: { tag: 't1', ids: [one.ID, two.ID], changed: [one, two] } }
    expect((await beat(host, first)).body).toEqual({ machines_tag: 't1', interval: 15 })
    expect((await client.asRoot('GET', '/hosts/a')).body).toMatchObject({ state: 'reachable', machines: 2, ...report })
    await beat(host, { machines: { tag: 't2', ids: [two.ID], changed: [] } })
    expect((await client.asRoot('GET', '/hosts/a')).body).toMatchObject({ machines: 1 })
    expect((await beat(host)).body.machines_tag).toBe('t2')
  })

  test('brings each event once, however often it is sent', async () => {
    const host = await register()
    const batch = {
      events: { after: 'aaaaaaaa-3', next: 'aaaaaaaa-5', entries: [event(1, 'VM_ADDED'), event(2, 'VM_ADDED')] },
    }
    expect((await beat(host, batch)).body.cursor).toBe('aaaaaaaa-5')
    // The reply was lost, and the host sends the same again.
    expect((await beat(host, batch)).body.cursor).toBe('aaaaaaaa-5')
    const next = { events: { after: 'aaaaaaaa-5', next: 'aaaaaaaa-6', entries: [event(3, 'VM_REMOVED')] } }
    expect((await beat(host, next)).body.cursor).toBe('aaaaaaaa-6')
    // One that comes late, from before.
    expect((await beat(host, batch)).body.cursor).toBe('aaaaaaaa-6')
    const told = await eventsOf('pdfm')
    expect(told.map(({ id }: { id: string }) => id[0])).toEqual(['1', '2', '3'])
    expect(told[0].body).toMatchObject({ vm_id: machine(1, '').ID, host: 'a', host_id: host.id })
  })

  test('twice at the same time brings each event once', async () => {
    const host = await register()
    const batch = { events: { after: 'aaaaaaaa-3', next: 'aaaaaaaa-4', entries: [event(1, 'VM_ADDED')] } }
    await beat(host, { events: { after: 'aaaaaaaa-3', next: 'aaaaaaaa-3', entries: [] } })
    const answers = await Promise.all(Array.from({ length: 5 }, () => beat(host, batch)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(await eventsOf('pdfm')).toHaveLength(1)
  })

  test('says in an event that events of the host are missing', async () => {
    const host = await register()
    await beat(host, { events: { after: 'aaaaaaaa-3', next: 'aaaaaaaa-3', entries: [] } })
    const gap = {
      events: { after: 'bbbbbbbb-0', replaces: 'aaaaaaaa-3', next: 'bbbbbbbb-1', entries: [event(1, 'VM_ADDED')] },
    }
    expect((await beat(host, gap)).body.cursor).toBe('bbbbbbbb-1')
    expect((await beat(host, gap)).body.cursor).toBe('bbbbbbbb-1')
    const told = await eventsOf('orchestrator', 'pdfm')
    expect(told.slice(-2)).toMatchObject([
      { message: 'HOST_EVENTS_MISSED', body: { host: 'a', from: 'aaaaaaaa-3', to: 'bbbbbbbb-0' } },
      { message: 'VM_ADDED' },
    ])
    expect(told.filter(({ message }: { message: string }) => message === 'HOST_EVENTS_MISSED')).toHaveLength(1)
  })

  test('cannot bring events of another kind', async () => {
    const host = await register()
    const forged = { ...event(1, 'USER_ADDED'), event_type: 'auth' }
    expect((await beat(host, { events: { after: 'aaaaaaaa-3', next: 'aaaaaaaa-4', entries: [forged] } })).status).toBe(
      400,
    )
  })

  test('that does not come makes the host unreachable, which an event says once', async () => {
    const host = await register()
    await beat(host)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 46_000 })
    expect((await client.asRoot('GET', '/hosts/a')).body).toMatchObject({
      state: 'unreachable',
      unreachable_since: expect.any(String),
    })
    await control.publishUnreachable()
    await control.publishUnreachable()
    await beat(host)
    await control.publishUnreachable()
    const told = (await eventsOf('orchestrator')).map(({ message }: { message: string }) => message)
    expect(told).toEqual(['HOST_ADDED', 'HOST_REACHABLE', 'HOST_UNREACHABLE', 'HOST_REACHABLE'])
    expect((await client.asRoot('GET', '/hosts/a')).body.state).toBe('reachable')
  })
})

test('what hosts have said is there after a restart', async () => {
  using folder = newFolder()
  const store = await openStore({ folder: folder.path })
  const before = await openControl({ store })
  client = await openClient(before.app)
  const host = await register()
  const one = machine(1, 'one')
  await beat(host, {
    machines: { tag: 't1', ids: [one.ID], changed: [one] },
    events: { after: 'aaaaaaaa-3', next: 'aaaaaaaa-4', entries: [event(1, 'VM_ADDED')] },
  })
  await before[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  expect(readFileSync(`${folder.path}/store.db`).includes(host.key.split('.')[1])).toBe(false)
  await using again = await openStore({ folder: folder.path })
  await using after = await openControl({ store: again })
  client = await openClient(after.app)
  expect((await client.asRoot('GET', '/hosts/a')).body).toMatchObject({ state: 'reachable', machines: 1 })
  expect((await beat(host)).body).toEqual({ cursor: 'aaaaaaaa-4', machines_tag: 't1', interval: 15 })
})
