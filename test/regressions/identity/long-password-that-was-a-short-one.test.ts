import { expect, test } from 'vitest'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'

test.for([
  ['is a short one again and again', 'aB1-\0aB1-\0aB1-'],
  ['holds half a character', `aB1-aB1-aB1-\ud83d`],
])('a password that %s is refused', async ([, password]) => {
  const ask = askOf(await newIdentity())
  const { token } = (await ask('POST', '/auth/token', { body: { email: 'root', password: rootPassword } })).body
  const user = { username: 'ann', name: 'Ann', email: 'ann@example.test', password }
  const refused = await ask('POST', '/auth/users', { token, body: user })
  expect(refused).toMatchObject({ status: 400, body: { error: 'password_validation' } })
  expect((await ask('POST', '/auth/token', { body: { email: 'ann', password: 'aB1-' } })).status).toBe(401)
})
