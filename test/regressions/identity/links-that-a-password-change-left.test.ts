import { beforeEach, describe, expect, test } from 'vitest'
import type { Answer } from '../../support/harness.ts'
import { type Ask, askOf, newIdentity, rootPassword } from '../../support/identity.ts'

const next = 'Another-Horse-7-Battery'
const thief = 'Stolen-Horse-8-Battery'

describe('a link to set a password', () => {
  let ask: Ask
  let root: string

  const signIn = async (username: string, password: string): Promise<string> =>
    (await ask('POST', '/auth/token', { body: { username, password } })).body.token
  const issue = async (token: string): Promise<string> =>
    (await ask('POST', '/auth/links', { token })).body.fragment.replace('#/link/', '')
  const use = (secret: string): Promise<Answer> =>
    ask('POST', '/auth/links/use', { body: { secret, password: thief }, headers: { 'x-vmhost-console': '1' } })

  beforeEach(async () => {
    ask = askOf(await newIdentity())
    root = await signIn('root', rootPassword)
  })

  test('ends when its user changes the password', async () => {
    const secret = await issue(root)
    const body = { password: rootPassword, new_password: next }
    expect((await ask('PUT', '/auth/password', { token: root, body })).status).toBe(202)
    expect(await use(secret)).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('the password was changed') },
    })
    expect((await ask('POST', '/auth/token', { body: { username: 'root', password: next } })).status).toBe(200)
  })

  test('ends when another super user resets the password', async () => {
    const body = { username: 'sue', name: 'Sue', email: 'sue@example.test', password: next, is_super_user: true }
    expect((await ask('POST', '/auth/users', { token: root, body })).status).toBe(201)
    const secret = await issue(await signIn('sue', next))
    const reset = await ask('PUT', '/auth/users/sue', { token: root, body: { password: `${next}-2` } })
    expect(reset.status).toBeLessThan(300)
    expect((await use(secret)).status).toBe(401)
  })

  test('is not made for an API key, nor for its token', async () => {
    const { encoded } = (await ask('POST', '/auth/api_keys', { token: root, body: { name: 'ci' } })).body
    expect(await ask('POST', '/auth/links', { apiKey: encoded })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('API key') },
    })
  })
})
