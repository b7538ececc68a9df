import { expect, test } from 'vitest'
import { askOf, newIdentity, rootPassword as password } from '../../support/identity.ts'
import { newState, rootPassword, runProgram, startService } from '../../support/service.ts'

test.for(['.', '..', ' .. '])(
  'no user, role or claim can be called "%s", because no path could name it',
  async name => {
    const ask = askOf(await newIdentity())
    const { token } = (await ask('POST', '/auth/token', { body: { email: 'root', password } })).body
    const user = { username: name, name: 'Dots', email: 'dots@example.test' }
    expect((await ask('POST', '/auth/users', { token, body: user })).status).toBe(400)
    expect((await ask('POST', '/auth/roles', { token, body: { name } })).status).toBe(400)
    expect((await ask('POST', '/auth/claims', { token, body: { name } })).status).toBe(400)
  },
)

test.for(['a\u0000b', '\u001b[2J', '\ud800'])('no role can be called %j', async name => {
  const ask = askOf(await newIdentity())
  const { token } = (await ask('POST', '/auth/token', { body: { email: 'root', password } })).body
  expect((await ask('POST', '/auth/roles', { token, body: { name } })).status).toBe(400)
})

test('control characters from other services are escaped on a terminal, and dot segments in ids are refused', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword }
  const vmhost = (...args: string[]) => runProgram(args, env, state.path)
  const service = await startService({ state: state.path, env })
  // Nobody is signed in: ESC ] 0 ; sets the title, ESC [ 2 J clears the screen, a line feed forges an entry.
  expect((await service.call('DELETE', '/api/v1/auth/users/%1b%5d0;title%07%1b%5b2J%0aforged%c2%9b')).status).toBe(401)
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  const orders = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
  for (const args of [
    ['audit', 'list'],
    ['audit', 'export'],
  ]) {
    const { code, stdout } = await vmhost(...args)
    expect(code).toBe(0)
    expect(stdout).toContain('title')
    expect(stdout).not.toMatch(orders)
    expect(stdout).not.toMatch(/^forged/m)
  }
  expect((await vmhost('users', 'revoke', '..', '--role', 'ADMIN')).stderr).toContain(
    'The names . and .. are not possible',
  )
  expect((await vmhost('roles', 'list')).stdout).toContain('ADMIN')
})
