import { describe, expect, test, vi } from 'vitest'
import { every } from '#lib/async/every.ts'
import { openAudit } from '#lib/audit/audit.ts'
import { createPasswordRules, characterKindNames } from '#lib/auth/password-policy.ts'
import { openRevocations } from '#lib/auth/revocations.ts'
import { isHostRule } from '#lib/ssh/allowed-hosts.ts'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import { openStore } from '#lib/storage/open-store.ts'
import type { Logger } from '#lib/platform/log.ts'
import { newFolder } from '../../support/folder.ts'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'
import { until } from '../../support/waiting.ts'

test('the refusal of a body that is not JSON does not quote it, because it may hold a password', async () => {
  const ask = askOf(await newIdentity())
  const { status, body } = await ask('POST', '/auth/token', { body: '{"username":"root","password":Hunter-22-Secret}' })
  expect(status).toBe(400)
  expect(JSON.stringify(body)).not.toContain('Hunter')
})

test('two sign-outs at the same time are both stored', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 5, 1) })
  const store = await createMemoryStore()
  const revocations = await openRevocations(store)
  const soon = Date.now() / 1000 + 60
  for (let at = 0; at < 3; at += 1) await revocations.add(crypto.randomUUID(), soon)
  vi.setSystemTime(Date.now() + 120_000)
  const ids = [crypto.randomUUID(), crypto.randomUUID()]
  await Promise.all(ids.map(id => revocations.add(id, Date.now() / 1000 + 60)))
  expect(ids.every(id => revocations.has(id))).toBe(true)
  vi.useRealTimers()
})

test('an unreadable entry of the audit is logged, and does not end the service', async () => {
  using folder = newFolder()
  const log = { error: vi.fn<Logger['error']>() }
  const first = await openStore({ folder: folder.path })
  const audit = openAudit({ store: first, log, every, retention: { days: 400, entries: 1_000 } })
  const facts = {
    request_id: 'r',
    address: 'local',
    operation: 'x',
    method: 'PUT',
    outcome: 'done',
    status: 200,
  } as const
  for (let at = 0; at < 3; at += 1) await audit.record({ ...facts, at: new Date().toISOString() })
  await audit.close()
  await first[Symbol.asyncDispose]()
  const database = new DatabaseSync(join(folder.path, 'store.db'))
  database.exec("UPDATE log SET value = CAST('{\"at\":7}' AS BLOB) WHERE name = 'audit' AND seq = 1")
  database.close()
  const second = await openStore({ folder: folder.path })
  const again = openAudit({ store: second, log, every, retention: { days: 400, entries: 1_000 } })
  await until(() =>
    expect(log.error).toHaveBeenCalledWith(expect.stringContaining('could not be removed'), expect.anything()),
  )
  await again.close()
  await second[Symbol.asyncDispose]()
})

test.for([
  [12, 72],
  [64, 64],
  [63, 64],
  [40, 72],
] as const)('a password of at least %i characters and at most %i bytes can be generated', ([minLength, maxBytes]) => {
  const rules = createPasswordRules({ minLength, maxBytes, requiredKinds: characterKindNames })
  for (let at = 0; at < 50; at += 1) rules.check(rules.generate(), 'It')
})

test.for([
  ['10.0.0.0/8', true],
  ['*.example.org', true],
  ['build-7', true],
  ['::1', true],
  ['10.0.0.0/', false],
  ['10.0.0.0/99', false],
  ['10.0.0', false],
  ['', false],
] as const)('%s may stand among the allowed hosts: %s', ([rule, may]) => {
  expect(isHostRule(rule)).toBe(may)
})

describe('API keys for others', () => {
  test('are created by super users alone, and belong to their owner', async () => {
    const ask = askOf(await newIdentity())
    const token = (await ask('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })).body.token
    const body = { username: 'service', name: 'Service', email: 's@example.test' }
    const { id } = (await ask('POST', '/auth/users', { token, body })).body
    const key = await ask('POST', '/auth/api_keys', { token, body: { name: 'theirs', user_id: id } })
    expect(key).toMatchObject({ status: 201, body: { user_id: id } })
    expect((await ask('GET', '/auth/users', { apiKey: key.body.encoded })).status).toBe(403)
    const nobody = { name: 'x', user_id: crypto.randomUUID() }
    expect((await ask('POST', '/auth/api_keys', { token, body: nobody })).status).toBe(404)
  })
})
