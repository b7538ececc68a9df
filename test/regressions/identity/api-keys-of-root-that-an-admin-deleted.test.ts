import { beforeEach, describe, expect, test } from 'vitest'
import { type Ask, askOf, newIdentity, rootPassword } from '../../support/identity.ts'

const password = 'Another-Horse-7-Battery'

describe('only callers who may change the owner can change an API key', () => {
  let ask: Ask
  let root: string
  const signIn = async (username: string, secret: string): Promise<string> =>
    (await ask('POST', '/auth/token', { body: { username, password: secret } })).body.token
  const addUser = async (username: string, roles: readonly string[]): Promise<string> => {
    const body = { username, name: username, email: `${username}@example.test`, password, roles }
    const made = await ask('POST', '/auth/users', { token: root, body })
    expect(made.status).toBe(201)
    return made.body.id
  }
  const addKey = async (name: string, body: object = {}): Promise<string> =>
    (await ask('POST', '/auth/api_keys', { token: root, body: { name, ...body } })).body.encoded

  beforeEach(async () => {
    ask = askOf(await newIdentity())
    root = await signIn('root', rootPassword)
    await addUser('adm', ['USER', 'ADMIN'])
  })

  test('an ADMIN cannot delete a key of root, which stays valid', async () => {
    const key = await addKey('rootkey')
    const refused = await ask('DELETE', '/auth/api_keys/rootkey', { token: await signIn('adm', password) })
    expect(refused).toMatchObject({ status: 403, body: { code: 403 } })
    expect((await ask('GET', '/auth/users', { apiKey: key })).status).toBe(200)
  })

  test('an ADMIN can delete a key of a user with fewer rights', async () => {
    const id = await addUser('jane', ['USER'])
    const key = await addKey('janes', { user_id: id })
    const token = await signIn('adm', password)
    expect((await ask('DELETE', '/auth/api_keys/janes', { token })).status).toBe(202)
    expect((await ask('GET', '/health/system', { apiKey: key })).status).toBe(401)
  })

  test('another super user can neither revoke, delete nor create keys of root', async () => {
    await addUser('second', ['SUPER_USER'])
    const token = await signIn('second', password)
    const id = (await ask('GET', '/auth/users/root', { token })).body.id
    const key = await addKey('rootkey')
    for (const [method, path, body] of [
      ['PUT', '/auth/api_keys/rootkey/revoke', undefined],
      ['DELETE', '/auth/api_keys/rootkey', undefined],
      ['POST', '/auth/api_keys', { name: 'mine', user_id: id }],
    ] as const)
      expect(await ask(method, path, { token, body })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('root') },
      })
    expect((await ask('GET', '/auth/users', { apiKey: key })).status).toBe(200)
  })

  test('a key can delete itself, because its owner may', async () => {
    const key = await addKey('tidy', { claims: ['DELETE_API_KEY'] })
    expect((await ask('DELETE', '/auth/api_keys/tidy', { apiKey: key })).status).toBe(202)
    expect((await ask('GET', '/health/system', { apiKey: key })).status).toBe(401)
  })

  test('a narrowed key cannot delete other keys of its owner; a key with all rights can', async () => {
    const other = await addKey('other')
    const narrowed = await addKey('narrow', { claims: ['DELETE_API_KEY', 'LIST_API_KEY'] })
    expect((await ask('DELETE', '/auth/api_keys/other', { apiKey: narrowed })).status).toBe(403)
    const whole = await addKey('whole')
    expect((await ask('DELETE', '/auth/api_keys/narrow', { apiKey: whole })).status).toBe(202)
    expect((await ask('GET', '/auth/users', { apiKey: other })).status).toBe(200)
  })

  test('an ADMIN who is refused to change a super user gets the reason', async () => {
    await addUser('second', ['SUPER_USER'])
    const token = await signIn('adm', password)
    expect(await ask('PUT', '/auth/users/second', { token, body: { name: 'Mine' } })).toMatchObject({
      status: 403,
      body: { message: 'Only a super user can change second, who is one.' },
    })
  })
})
