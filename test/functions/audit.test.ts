import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { every } from '#lib/async/every.ts'
import { type Audit, openAudit } from '#lib/audit/audit.ts'
import { findChainBreak } from '#lib/audit/entry.ts'
import type { AuditRecord } from '#lib/audit/schemas.ts'
import { openStore } from '#lib/storage/open-store.ts'
import type { Store } from '#lib/storage/store.ts'
import { type Ask, askOf, newIdentity, rootPassword as password } from '../support/identity.ts'
import { until } from '../support/waiting.ts'

const start = Date.UTC(2026, 5, 1)
const log = { error: (message: string) => expect.fail(message) }

describe('the audit', () => {
  let folder: string
  let store: Store
  let audit: Audit
  let ask: Ask
  let token: string

  const open = async (days = 400): Promise<void> => {
    store = await openStore({ folder })
    audit = openAudit({ store, log, every, retention: { days, entries: 1_000 } })
  }
  const entries = async (query = ''): Promise<AuditRecord[]> =>
    (await ask('GET', `/audit?after=0&limit=1000${query}`, { token })).body.entries
  const wholeChain = (all: readonly AuditRecord[]): string | undefined =>
    all.map((entry, at) => findChainBreak(all[at - 1], entry)).find(wrong => wrong !== undefined)
  const jane = { username: 'jane', name: 'Jane', email: 'jane@example.test', password: 'Another-Horse-7-Battery' }

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: start })
    folder = await mkdtemp(join(tmpdir(), 'vmhost-audit-'))
    await open()
    ask = askOf(await newIdentity({ store }), audit)
    token = (await ask('POST', '/auth/token', { body: { username: 'root', password } })).body.token
  })
  afterEach(async () => {
    await audit.close()
    await store[Symbol.asyncDispose]()
    vi.useRealTimers()
    await rm(folder, { recursive: true })
  })

  test('records who did what to whom, from where, and how it ended', async () => {
    const created = await ask('POST', '/auth/users', { token, body: jane, address: '198.51.100.4' })
    await ask('POST', '/auth/users/jane/claims', { token, body: { name: 'LIST_ROLE' } })
    await ask('POST', '/auth/users', { token, body: jane })
    await ask('DELETE', '/auth/users/root', { token })
    await ask('GET', '/auth/users', { token })
    expect(await entries()).toMatchObject([
      { seq: 1, operation: 'auth/sign-in', username: 'root', outcome: 'done', status: 200, address: '192.0.2.1' },
      {
        operation: 'users/create',
        username: 'root',
        address: '198.51.100.4',
        details: { username: 'jane', email: 'jane@example.test' },
        created: created.body.id,
        outcome: 'done',
        status: 201,
        at: new Date(start).toISOString(),
      },
      { operation: 'users/give-claim', target: { id: 'jane' }, details: { name: 'LIST_ROLE' } },
      { operation: 'users/create', outcome: 'refused', status: 409, message: expect.stringContaining('exists') },
      { operation: 'users/delete', target: { id: 'root' }, outcome: 'refused', status: 403 },
    ])
    expect(created.headers.get('x-request-id')).toBe((await entries())[1]!.request_id)
  })

  test('records refusals and failed sign-ins, with the user if there is one', async () => {
    await ask('GET', '/auth/users')
    await ask('POST', '/auth/token', { body: { username: 'ROOT', password: 'a-secret-typed-wrong' } })
    await ask('POST', '/auth/token', { body: { username: 'a-secret-typed-as-a-name', password } })
    await ask('POST', '/auth/api_keys', { token, body: { name: 'farm', claims: ['LIST_VM'] } })
    const apiKey = (await ask('POST', '/auth/api_keys', { token, body: { name: 'f2', claims: ['LIST_VM'] } })).body
    await ask('GET', '/auth/users', { apiKey: apiKey.encoded })
    const all = await entries()
    expect(all.slice(1, 4)).toMatchObject([
      { operation: 'users/list', status: 401, outcome: 'refused' },
      { operation: 'auth/sign-in', status: 401, username: 'root' },
      { operation: 'auth/sign-in', status: 401 },
    ])
    expect(all[1]).not.toHaveProperty('user_id')
    expect(all[3]).not.toHaveProperty('username')
    expect(all.at(-1)).toMatchObject({ status: 403, username: 'root', api_key_id: apiKey.id })
    expect(JSON.stringify(all)).not.toMatch(/a-secret|Correct-Horse/)
    expect(JSON.stringify(all)).not.toContain(apiKey.encoded)
  })

  test('is readable by super users alone', async () => {
    await ask('POST', '/auth/users', { token, body: { ...jane, roles: ['ADMIN'] } })
    const other = (await ask('POST', '/auth/token', { body: jane })).body.token
    expect((await ask('GET', '/audit', { token: other })).status).toBe(403)
  })

  test('is filtered and paged, from both ends', async () => {
    for (let at = 0; at < 25; at += 1) {
      await ask('POST', '/auth/claims', { token, body: { name: `C${at}` } })
      vi.setSystemTime(Date.now() + 1000)
    }
    const first = (await ask('GET', '/audit?limit=10', { token })).body
    expect(first.entries.map(({ seq }: AuditRecord) => seq)).toEqual([26, 25, 24, 23, 22, 21, 20, 19, 18, 17])
    const second = (await ask('GET', `/audit?limit=20&before=${first.next}`, { token })).body
    expect(second.entries.map(({ seq }: AuditRecord) => seq)).toEqual(Array.from({ length: 16 }, (_, at) => 16 - at))
    expect(second).not.toHaveProperty('next')
    expect(await entries('&operation=auth/*')).toHaveLength(1)
    expect(await entries('&operation=claims/create&user=root&outcome=done')).toHaveLength(25)
    expect(
      await entries(`&from=${new Date(start + 5000).toISOString()}&to=${new Date(start + 6000).toISOString()}`),
    ).toHaveLength(2)
    for (const bad of ['limit=0', 'limit=x', 'before=1&after=1', 'from=soon', 'outcome=maybe'])
      expect((await ask('GET', `/audit?${bad}`, { token })).status, bad).toBe(400)
  })

  test('shows an entry that was removed, changed or swapped', async () => {
    for (let at = 0; at < 5; at += 1) await ask('POST', '/auth/claims', { token, body: { name: `C${at}` } })
    const all = await entries()
    expect(wholeChain(all)).toBeUndefined()
    expect(wholeChain(all.toSpliced(2, 1))).toContain('between 2 and 4 are missing')
    expect(wholeChain(all.with(2, { ...all[2]!, username: 'jane' }))).toBe('entry 3 was changed')
    expect(wholeChain(all.with(2, { ...all[3]!, seq: 3 }))).toBe('entry 3 was changed')

    await store[Symbol.asyncDispose]()
    const database = new DatabaseSync(join(folder, 'store.db'))
    database.exec("DELETE FROM log WHERE name = 'audit' AND seq = 3")
    database.close()
    await open()
    expect(wholeChain((await audit.readPage({ after: 0, limit: 100 })).entries)).toContain('missing')
  })

  test('continues its chain after a restart, and removes old entries', async () => {
    await ask('POST', '/auth/claims', { token, body: { name: 'OLD' } })
    await audit.close()
    await store[Symbol.asyncDispose]()
    vi.setSystemTime(start + 3 * 86_400_000)
    await open()
    const facts = { at: new Date().toISOString(), request_id: 'r', address: 'local', operation: 'x', method: 'PUT' }
    await audit.record({ ...facts, outcome: 'done', status: 200 })
    const all = (await audit.readPage({ after: 0, limit: 100 })).entries
    expect(all).toHaveLength(3)
    expect(wholeChain(all)).toBeUndefined()
    await audit.close()
    await store[Symbol.asyncDispose]()
    await open(1)
    await until(async () => expect((await audit.readPage({ after: 0, limit: 100 })).entries).toHaveLength(1))
  })

  test('counts a flood of refusals instead of storing each', async () => {
    for (let at = 0; at < 200; at += 1) await ask('GET', '/auth/users')
    expect(await entries('&operation=users/list')).toHaveLength(60)
    vi.advanceTimersByTime(60_000)
    await until(async () => expect(await entries('&operation=users/list')).toHaveLength(61))
    expect((await entries('&operation=users/list')).at(-1)).toMatchObject({ repeated: 140, status: 401 })
    // Refusals from many addresses share one limit, and each address gets an entry.
    vi.advanceTimersByTime(60_000)
    for (let at = 0; at < 300; at += 1) await ask('GET', '/auth/roles', { address: `198.51.100.${at % 30}` })
    expect(await entries('&operation=roles/list')).toHaveLength(60)
    vi.advanceTimersByTime(60_000)
    await until(async () => expect(await entries('&operation=roles/list')).toHaveLength(90))
    const summed = (await entries('&operation=roles/list')).slice(60)
    expect(new Set(summed.map(({ address }) => address)).size).toBe(30)
    expect(summed.reduce((sum, { repeated = 0 }) => sum + repeated, 0)).toBe(240)
    expect(wholeChain(await entries())).toBeUndefined()
  })
})
