import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

test('no secret reaches the log, the audit or a file', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LOG: 'debug' }
  const service = await startService({ state: state.path, env })
  const secrets = [
    rootPassword,
    'Another-Horse-7-Battery',
    'Third-Horse-5-Battery',
    'a-wrong-Password-1',
    'my-own-secret-42',
  ]
  const [, password, next, wrong, secret] = secrets
  const ask = async (method: string, path: string, body?: object, token?: string) =>
    (await service.call(method, `/api/v1${path}`, { ...(token && { token }), ...(body && { body }) })).body

  const token = await service.signIn()
  const user = { username: 'jane', name: 'Jane', email: 'jane@example.test', password }
  await ask('POST', '/auth/users', user, token)
  await ask('POST', '/auth/users', { ...user, username: 'a b' }, token)
  const hers = (await ask('POST', '/auth/token', { username: 'jane', password })).token
  await ask('POST', '/auth/token', { username: 'jane', password: wrong })
  await ask('PUT', '/auth/password', { password, new_password: next }, hers)
  await ask('PUT', '/auth/users/jane', { password }, token)
  const made = await ask('POST', '/auth/api_keys', { name: 'one', key: 'one', secret }, token)
  const keyed = (await ask('POST', '/auth/token', { api_key: made.encoded })).token
  await ask('POST', '/auth/token/validate', { token: `${keyed}x` })
  await service.call('GET', '/api/v1/auth/users', { headers: { 'x-api-key': made.encoded } })
  await service.call('GET', '/api/v1/auth/users', { headers: { 'x-api-key': `${made.encoded.slice(0, -4)}AAAA` } })
  await ask('GET', `/nothing?access_token=${token}`, undefined, token)
  const { ticket } = await ask('POST', '/auth/tickets', { path: '/v1/ws/subscribe' }, token)
  for (let turn = 0; turn < 2; turn += 1) await ask('GET', `/ws/subscribe?ticket=${ticket}`)
  await ask('DELETE', '/auth/token', undefined, keyed)
  const exported = await runProgram(['audit', 'export'], {}, state.path)
  expect(exported).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^\d+ entries; the chain is whole, up to [0-9a-f]{64}\.\n$/),
  })
  expect(exported.stdout.split('\n').length).toBeGreaterThan(10)
  expect((await runProgram(['audit', 'list', '--user', 'jane'], {}, state.path)).stdout).toMatch(
    /TIME +USER +FROM +OPERATION[^]*jane +127\.0\.0\.1 +auth\/change-password/,
  )

  const kept = [...secrets, ticket, token, hers, keyed, made.encoded, made.encoded.slice(4, -8)]
  const look = (text: string, where: string): void => {
    for (const one of kept) expect(text.includes(one), `${where} holds ${one.slice(0, 6)}…`).toBe(false)
  }
  look(service.log(), 'the log')
  look(exported.stdout, 'the audit')
  for (const file of filesBelow(state.path)) look(readFileSync(file, 'latin1'), file)
  await service.stop()
  for (const file of filesBelow(state.path)) look(readFileSync(file, 'latin1'), file)
  expect(service.log()).toContain('auth/sign-in')
})
