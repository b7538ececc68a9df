import { beforeEach, expect, test } from 'vitest'
import { type Ask, askOf, newIdentity, rootPassword } from '../../support/identity.ts'

let ask: Ask
let token: string

beforeEach(async () => {
  ask = askOf(await newIdentity())
  token = (await ask('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })).body.token
})

test.for(['SUPER_USER', 'super user', ' Admin ', 'user'])(
  'a claim cannot have the name of a role of the service: %s',
  async name => {
    expect(await ask('POST', '/auth/claims', { token, body: { name } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('is the name of a role of the service') },
    })
  },
)

test.for(['LIST_VM', 'list vm', 'DELETE_CACHE_ITEM', 'REVERT_SNAPSHOT_VM'])(
  'a role cannot have the name of a claim of the service: %s',
  async name => {
    expect(await ask('POST', '/auth/roles', { token, body: { name } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('is the name of a claim of the service') },
    })
  },
)

test('the error for an unknown claim suggests the closest name', async () => {
  const suggestion = {
    status: 404,
    body: { message: expect.stringContaining('Did you mean LIST_VM? GET /api/v1/auth/claims') },
  }
  const [role, claim] = [{ name: 'FARM', claims: ['LIST_VMS'] }, { name: 'LIST_VMS' }]
  expect(await ask('POST', '/auth/roles', { token, body: role })).toMatchObject(suggestion)
  expect(await ask('POST', '/auth/users/root/claims', { token, body: claim })).toMatchObject(suggestion)
  expect(await ask('GET', '/auth/claims/LIST_VMS', { token })).toMatchObject(suggestion)
})

test('an added claim and an added role may have the same name, because catalogs require either', async () => {
  expect((await ask('POST', '/auth/claims', { token, body: { name: 'team a' } })).status).toBe(201)
  expect((await ask('POST', '/auth/roles', { token, body: { name: 'team a' } })).status).toBe(201)
})
