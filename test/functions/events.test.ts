import { describe, expect, vi } from 'vitest'
import { every } from '#lib/async/every.ts'
import { formatCursor } from '#lib/events/cursor.ts'
import type { EventMessage } from '#lib/events/event.ts'
import { openEvents } from '#lib/events/events.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { newFolder } from '../support/folder.ts'
import { type Call, test } from '../support/harness.ts'
import { until } from '../support/waiting.ts'

const list = async (
  call: Call,
  query = '',
  as: readonly string[] = ['*'],
): Promise<{ events: EventMessage[]; cursor: string; gap?: true }> => {
  const { status, body } = await call('GET', `/api/v1/events${query}`, { as })
  expect(status).toBe(200)
  return body
}
const names = (events: readonly EventMessage[]): readonly string[] => events.map(({ message }) => message)
const create = (call: Call, name: string) =>
  call('POST', '/api/v1/machines', { body: { name, cpus: 1, memory: 16, disks: [{ size: 1 }] } })

describe('GET /v1/events', () => {
  test('lists each change of a machine once, in order', async ({ call }) => {
    const before = (await list(call)).cursor
    const { id } = (await create(call, 'one')).body
    for (const verb of ['start', 'pause', 'resume', 'stop']) await call('PUT', `/api/v1/machines/one/${verb}`)
    await call('PUT', '/api/v1/machines/one/set', {
      body: { operations: [{ group: 'memory', operation: 'set', value: '32' }] },
    })
    await call('DELETE', '/api/v1/machines/one')
    const { events } = await list(call, `?since=${before}&types=pdfm`)
    const changes = events.map(({ message, body = {} }) =>
      message === 'VM_STATE_CHANGED' ? `${String(body['previous_state'])} → ${String(body['current_state'])}` : message,
    )
    expect(changes).toEqual([
      'VM_ADDED',
      'stopped → starting',
      'starting → running',
      'running → pausing',
      'pausing → paused',
      'paused → resuming',
      'resuming → running',
      'running → stopping',
      'stopping → stopped',
      'stopped → configuring',
      'VM_UPDATED',
      'configuring → stopped',
      'stopped → deleting',
      'VM_REMOVED',
    ])
    expect(new Set(events.map(event => event.body?.['vm_id']))).toEqual(new Set([id]))
    expect(events[0]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      event_type: 'pdfm',
      timestamp: expect.stringMatching(/Z$/),
      body: { new_vm: { Name: 'one' } },
    })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => events[0]!.seq + at))
  })

  test('pages with a cursor, and reports a gap', async ({ call, events: log }) => {
    for (let at = 0; at < 5; at += 1)
      await log.publishNow({ type: 'stats', message: `M${at}`, audience: { claims: ['LIST'] } })
    const first = await list(call, '?types=stats&limit=2')
    const second = await list(call, `?types=stats&limit=100&since=${first.cursor}`)
    expect([...names(first.events), ...names(second.events)]).toEqual(['M0', 'M1', 'M2', 'M3', 'M4'])
    expect(await list(call, `?since=${second.cursor}`)).toEqual({ events: [], cursor: second.cursor })
    const other =
      `0${first.cursor.slice(1)}` === first.cursor ? `1${first.cursor.slice(1)}` : `0${first.cursor.slice(1)}`
    expect(await list(call, `?since=${other}&types=stats`)).toMatchObject({ gap: true, events: { length: 5 } })
    for (const bad of ['x', 'abc-1', `${first.cursor}x`])
      expect((await call('GET', `/api/v1/events?since=${bad}`)).status).toBe(400)
  })

  test('shows each caller the events they may see, and private ones to their owner alone', async ({ call }) => {
    await create(call, 'one')
    await call('POST', '/api/v1/auth/claims', { body: { name: 'MINE' } })
    await call('POST', '/api/v1/user/configs', { as: ['other', 'LIST'], body: { slug: 's' } })
    expect(names((await list(call, '', ['LIST_VM'])).events)).toEqual(['VM_ADDED'])
    expect(names((await list(call, '', ['LIST_CLAIM'])).events)).toEqual(['CLAIM_ADDED'])
    expect(names((await list(call, '', ['LIST'])).events)).toEqual([])
    expect(names((await list(call, '', ['other', 'LIST'])).events)).toEqual(['USER_CONFIG_ADDED'])
    expect(names((await list(call)).events)).not.toContain('USER_CONFIG_ADDED')
  })

  test('lists every change of users, roles, claims and API keys', async ({ call }) => {
    const before = (await list(call)).cursor
    const user = { username: 'jane', name: 'Jane', email: 'j@example.test', password: 'Another-Horse-7-Battery' }
    await call('POST', '/api/v1/auth/users', { body: user })
    await call('PUT', '/api/v1/auth/users/jane', { body: { name: 'J' } })
    await call('POST', '/api/v1/auth/roles', { body: { name: 'ops' } })
    await call('POST', '/api/v1/auth/roles/ops/claims', { body: { name: 'LIST_VM' } })
    await call('POST', '/api/v1/auth/users/jane/roles', { body: { name: 'ops' } })
    await call('POST', '/api/v1/auth/users/jane/claims', { body: { name: 'LIST_ROLE' } })
    await call('DELETE', '/api/v1/auth/users/jane/claims/LIST_ROLE')
    await call('DELETE', '/api/v1/auth/users/jane/roles/ops')
    await call('DELETE', '/api/v1/auth/roles/ops/claims/LIST_VM')
    await call('DELETE', '/api/v1/auth/roles/ops')
    await call('DELETE', '/api/v1/auth/users/jane')
    // Refused requests publish no events.
    await call('DELETE', '/api/v1/auth/users/jane')
    await call('POST', '/api/v1/auth/claims', { body: { name: 'LIST_VM' } })
    expect(names((await list(call, `?since=${before}&types=auth`)).events)).toEqual([
      'USER_ADDED',
      'USER_UPDATED',
      'ROLE_ADDED',
      'ROLE_CLAIM_ADDED',
      'USER_ROLE_ADDED',
      'USER_CLAIM_ADDED',
      'USER_CLAIM_REMOVED',
      'USER_ROLE_REMOVED',
      'ROLE_CLAIM_REMOVED',
      'ROLE_REMOVED',
      'USER_REMOVED',
    ])
  })

  test('requires a signed-in user; the WebSocket endpoint requires an upgrade', async ({ call }) => {
    expect((await call('GET', '/api/v1/events', { as: null })).status).toBe(401)
    const plain = await call('GET', '/api/v1/ws/subscribe')
    expect(plain).toMatchObject({ status: 426, body: { code: 426, message: expect.stringContaining('WebSocket') } })
    expect(plain.headers.get('upgrade')).toBe('websocket')
    expect((await call('GET', '/api/v1/ws/subscribe', { as: null })).status).toBe(401)
    expect((await call('GET', '/api/v1/ws/subscribe?since=x')).status).toBe(426)
    expect((await call('GET', '/api/v1/ws/clients', { as: ['LIST'] })).status).toBe(403)
    expect((await call('GET', '/api/v1/ws/clients')).body).toEqual([])
    expect((await call('GET', '/api/v1/ws/stats')).body).toMatchObject({ total_clients: 0, messages_sent: 0 })
  })
})

describe('GET /v1/events/stream', () => {
  test('shows each caller the past and new events that they may see', async ({ call, open }) => {
    const before = (await list(call)).cursor
    const change = async (name: string): Promise<void> => {
      await call('POST', '/api/v1/auth/claims', { body: { name: `MINE_${name.toUpperCase()}` } })
      await call('POST', '/api/v1/user/configs', { as: ['other', 'LIST'], body: { slug: name } })
      await create(call, name)
    }
    await change('one')
    const stream = await open('GET', `/api/v1/events/stream?since=${before}`, { as: ['LIST_VM'] })
    await change('two')
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"Name":"two"')) text += (await reader.read()).value!
    await reader.cancel()
    const messages = [...text.matchAll(/"message":"([A-Z_]+)"/g)].map(match => match[1])
    expect(messages.filter(message => message === 'VM_ADDED')).toHaveLength(2)
    expect(messages).not.toContain('CLAIM_ADDED')
    expect(messages).not.toContain('USER_CONFIG_ADDED')
  })
})

describe('the event log', () => {
  test('removes events that are too old or too many, and reports the gap to slow readers', async () => {
    using folder = newFolder()
    const store = await openStore({ folder: folder.path })
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: Date.UTC(2026, 5, 1) })
    const log = await openEvents(store, { every, retention: { days: 1, entries: 10 } })
    const begin = formatCursor(log.head())
    const publish = (message: string) => log.publishNow({ type: 'stats', message, audience: { claims: ['LIST'] } })
    for (let at = 0; at < 25; at += 1) await publish(`M${at}`)
    vi.advanceTimersByTime(11 * 60_000)
    await until(() => expect(log.resolveCursor(begin)).toMatchObject({ gap: true, cursor: { seq: 15 } }))
    vi.setSystemTime(Date.UTC(2026, 5, 3))
    await publish('new')
    vi.advanceTimersByTime(11 * 60_000)
    await until(() => expect(log.resolveCursor(undefined).cursor.seq).toBe(25))
    log.close()
    await store[Symbol.asyncDispose]()
    // After a restore the numbers are used again, so a cursor from before must not be taken for a position.
    const again = await openStore({ folder: folder.path })
    const fresh = await openEvents(again, { every, restored: true })
    expect(fresh.resolveCursor(formatCursor(log.head())).gap).toBe(true)
    fresh.close()
    await again[Symbol.asyncDispose]()
    vi.useRealTimers()
  })
})
