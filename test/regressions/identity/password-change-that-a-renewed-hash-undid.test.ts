import { expect, test } from 'vitest'
import { askOf, newIdentity, newPasswords, rootPassword } from '../../support/identity.ts'

const next = 'Another-Horse-7-Battery'

test('a sign-in that renews the hash does not undo a password change made at the same time', async () => {
  const passwords = newPasswords()
  const renewal = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let isOutdated = false
  const identity = await newIdentity({
    passwords: {
      ...passwords,
      isOutdated: () => isOutdated,
      async hash(password) {
        // Only the renewal hashes root's present password again.
        if (password === rootPassword && isOutdated) {
          isOutdated = false
          begun.resolve()
          await renewal.promise
        }
        return passwords.hash(password)
      },
    },
  })
  const ask = askOf(identity)
  const signIn = (password: string) => ask('POST', '/auth/token', { body: { username: 'root', password } })
  isOutdated = true
  const slow = signIn(rootPassword)
  await begun.promise
  const { token } = (await signIn(rootPassword)).body
  const changed = await ask('PUT', '/auth/password', { token, body: { password: rootPassword, new_password: next } })
  expect(changed.status).toBe(202)
  renewal.resolve()
  await slow
  expect((await signIn(rootPassword)).status).toBe(401)
  expect((await signIn(next)).status).toBe(200)
})
