import { expect, test } from 'vitest'
import { askOf, newIdentity, newPasswords, rootPassword } from '../../support/identity.ts'

test('a change of the own password fails when the password is reset at the same time', async () => {
  const passwords = newPasswords()
  const hashing = Promise.withResolvers<void>()
  const reset = Promise.withResolvers<void>()
  const ask = askOf(
    await newIdentity({
      passwords: {
        ...passwords,
        async hash(password) {
          if (password === 'Thief-Chose-This-1') {
            hashing.resolve()
            await reset.promise
          }
          return passwords.hash(password)
        },
      },
    }),
  )
  const signIn = (email: string, password: string) => ask('POST', '/auth/token', { body: { email, password } })
  const root = (await signIn('root', rootPassword)).body.token
  const ann = { username: 'ann', name: 'Ann', email: 'ann@example.test', password: 'Known-To-A-Thief-1' }
  await ask('POST', '/auth/users', { token: root, body: ann })
  const token = (await signIn('ann', ann.password)).body.token

  const body = { password: ann.password, new_password: 'Thief-Chose-This-1' }
  const theft = ask('PUT', '/auth/password', { token, body })
  await hashing.promise
  await ask('PUT', '/auth/users/ann', { token: root, body: { password: 'Reset-By-Root-1' } })
  reset.resolve()

  expect((await theft).status).toBe(409)
  expect((await signIn('ann', 'Thief-Chose-This-1')).status).toBe(401)
  expect((await signIn('ann', 'Reset-By-Root-1')).status).toBe(200)
})
