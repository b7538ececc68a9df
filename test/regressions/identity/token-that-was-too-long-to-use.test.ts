import { expect, test } from 'vitest'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'

test('a user with more claims than a token can hold can sign in', async () => {
  const ask = askOf(await newIdentity())
  const { token } = (await ask('POST', '/auth/token', { body: { email: 'root', password: rootPassword } })).body
  const claims = Array.from({ length: 130 }, (_, at) => `${'CATALOG_OF_A_TEAM_WITH_A_LONG_NAME_'.repeat(3)}${at}`)
  for (const name of claims) await ask('POST', '/auth/claims', { token, body: { name } })
  const ann = { username: 'ann', name: 'Ann', email: 'ann@example.test', password: 'Ann-Signs-In-1' }
  const body = { ...ann, claims: [...claims, 'LIST_USER'] }
  expect((await ask('POST', '/auth/users', { token, body })).status).toBe(201)

  const signedIn = await ask('POST', '/auth/token', { body: { email: 'ann', password: ann.password } })
  expect(signedIn.body.token.length).toBeLessThan(12 * 1024)
  expect((await ask('GET', '/auth/users', { token: signedIn.body.token })).status).toBe(200)
  expect((await ask('GET', '/auth/roles', { token: signedIn.body.token })).status).toBe(403)
})
