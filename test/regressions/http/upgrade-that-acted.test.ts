import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../../support/service.ts'

test('an upgrade request is routed by its method and not as a GET', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }
  const service = await startService({ state: state.path, env })
  const token = await service.signIn()
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const statusOf = async (method: string, path: string): Promise<number> =>
    (await service.call(method, path, { token, headers: upgrade })).status

  expect(await statusOf('HEAD', '/api/v1/machines/demo/start')).toBe(405)
  expect(await statusOf('OPTIONS', '/api/v1/machines/demo/start')).toBe(405)
  expect(await statusOf('DELETE', '/api/v1/auth/users/root')).toBe(403)
  const { body } = await service.call('GET', '/api/v1/machines/demo/status', { token })
  expect(body.status).toBe('stopped')
})
