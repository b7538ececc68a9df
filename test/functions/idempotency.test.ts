import { describe, expect, vi } from 'vitest'
import { every } from '#lib/async/every.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import { ServiceError } from '#lib/errors.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { newFolder } from '../support/folder.ts'
import { type Answer, type Call, test } from '../support/harness.ts'
import { pause, until } from '../support/waiting.ts'

const post = (call: Call, path: string, key: string, body: object, as: readonly string[] = ['*']): Promise<Answer> =>
  call('POST', `/api/v1${path}`, { as, body, headers: { 'idempotency-key': key } })

describe('Idempotency-Key', () => {
  test('a repeated request has one effect and gets the same answer', async ({ call }) => {
    const body = { name: 'one', cpus: 1, memory: 16, disks: [{ size: 1 }] }
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(call, '/machines', 'k1', body)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(answer => answer.body.id)).size).toBe(1)
    expect(await post(call, '/machines', 'k1', body)).toMatchObject({ status: 201, body: answers[0]!.body })
    expect((await call('GET', '/api/v1/machines')).body).toHaveLength(1)
    // Without the key, and with another key, it is another request.
    expect((await post(call, '/machines', 'k2', body)).status).toBe(409)
  })

  test('a refusal is repeated too, even when its reason is gone', async ({ call }) => {
    const deletion = () => call('DELETE', '/api/v1/auth/claims/MINE', { headers: { 'idempotency-key': 'd' } })
    expect((await deletion()).status).toBe(404)
    await call('POST', '/api/v1/auth/claims', { body: { name: 'MINE' } })
    expect(await deletion()).toMatchObject({ status: 404, body: { code: 404 } })
    expect((await call('DELETE', '/api/v1/auth/claims/MINE')).status).toBe(202)
  })

  test('a key that was used for another request is refused; each caller has keys of their own', async ({ call }) => {
    expect((await post(call, '/auth/claims', 'k', { name: 'A' })).status).toBe(201)
    expect((await post(call, '/auth/claims', 'k', { name: 'B' })).status).toBe(409)
    expect((await post(call, '/auth/roles', 'k', { name: 'A' })).status).toBe(409)
    expect((await post(call, '/auth/claims', 'k', { name: 'B' }, ['other', '*'])).status).toBe(201)
    expect((await post(call, '/auth/claims', 'x'.repeat(256), { name: 'C' })).status).toBe(400)
  })

  test('a caller without the right is refused whatever the key; a secret is shown once', async ({ call, eventLog }) => {
    expect((await post(call, '/auth/claims', 'k', { name: 'A' })).status).toBe(201)
    expect((await post(call, '/auth/claims', 'k', { name: 'A' }, ['LIST'])).status).toBe(403)
    const made = await post(call, '/auth/api_keys', 's', { name: 'key' })
    expect(made.status).toBe(201)
    expect(await post(call, '/auth/api_keys', 's', { name: 'key' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('was done before') },
    })
    expect((await call('GET', '/api/v1/auth/api_keys')).body).toHaveLength(1)
    expect(eventLog.store.failure).toBeUndefined()
  })

  test('survives a restart; an interrupted request is reported as such, or goes on if it can', async () => {
    using folder = newFolder()
    const once = { key: 'k', caller: 'c', operation: 'x', content: { a: 1 }, secret: false }
    const open = async () => {
      const store = await openStore({ folder: folder.path })
      return { store, idempotency: openIdempotency(store, { pepper: new Uint8Array(32), every }) }
    }
    const first = await open()
    expect(await first.idempotency.run(once, () => ({ id: 7 }))).toEqual({ id: 7 })
    const busy = new ServiceError('unavailable', 'busy')
    await expect(first.idempotency.run({ ...once, key: 'again' }, () => Promise.reject(busy))).rejects.toBe(busy)
    expect(await first.idempotency.run({ ...once, key: 'again' }, () => 'now')).toBe('now')
    // As after a kill: the record is stored, and the work never ended.
    void first.idempotency.run({ ...once, key: 'cut' }, () => new Promise(() => {}))
    await pause(50)
    first.idempotency.close()
    await first.store[Symbol.asyncDispose]()
    const second = await open()
    const never = () => expect.fail('this was done before')
    expect(await second.idempotency.run(once, never)).toEqual({ id: 7 })
    await expect(second.idempotency.run({ ...once, key: 'cut' }, never)).rejects.toMatchObject({ fault: 'conflict' })
    const resumable = { ...once, key: 'cut', resumable: true }
    await expect(second.idempotency.run({ ...resumable, content: {} }, never)).rejects.toMatchObject({
      fault: 'conflict',
    })
    expect(await second.idempotency.run(resumable, () => 'gone on')).toBe('gone on')
    expect(await second.idempotency.run(resumable, never)).toBe('gone on')
    second.idempotency.close()
    await second.store[Symbol.asyncDispose]()
  })

  test('is forgotten after a day', async () => {
    using folder = newFolder()
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: Date.UTC(2026, 5, 1) })
    const store = await openStore({ folder: folder.path })
    const idempotency = openIdempotency(store, { pepper: new Uint8Array(32), every })
    const once = { key: 'k', caller: 'c', operation: 'x', content: {}, secret: false }
    await idempotency.run(once, () => 1)
    vi.setSystemTime(Date.UTC(2026, 5, 2, 0, 1))
    vi.advanceTimersByTime(3_600_000)
    await until(async () => expect(await idempotency.run(once, () => 2)).toBe(2))
    idempotency.close()
    await store[Symbol.asyncDispose]()
    vi.useRealTimers()
  })
})
