import { expect, test } from 'vitest'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'

test('a blank API key is replaced with a generated one, and a key with half a character is refused', async () => {
  const ask = askOf(await newIdentity())
  const { token } = (await ask('POST', '/auth/token', { body: { email: 'root', password: rootPassword } })).body
  const made = await ask('POST', '/auth/api_keys', { token, body: { name: 'blank', key: '   ', secret: '  ' } })
  expect((await ask('GET', '/auth/users', { apiKey: made.body.encoded })).status).toBe(200)
  for (const half of [{ key: 'k\ud800' }, { secret: 's\ud800' }])
    expect((await ask('POST', '/auth/api_keys', { token, body: { name: 'half', ...half } })).status).toBe(400)
})
