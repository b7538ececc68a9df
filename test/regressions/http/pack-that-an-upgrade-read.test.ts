import { expect, test } from 'vitest'
import { exchangeBytes } from '../../support/raw-exchange.ts'
import { newState, rootPassword, startService } from '../../support/service.ts'

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

test('an upgrade request to a path without a WebSocket is served as an ordinary request, and its reply is not buffered in memory', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }
  const service = await startService({ state: state.path, env })
  const port = Number(new URL(service.url).port)
  const asked = `Host: x\r\nAuthorization: Bearer ${await service.signIn()}\r\n${upgrade}\r\n`
  const get = (path: string, until: string): Promise<string> =>
    exchangeBytes(port, `GET ${path} HTTP/1.1\r\n${asked}`, text => text.includes(until))

  // The stream has no end, so a service that buffers it would send nothing.
  expect(await get('/api/v1/events/stream', 'retry: 2000')).toMatch(
    /^HTTP\/1\.1 200 [^]*text\/event-stream[^]*retry: 2000/,
  )
  expect(await get('/api/v1/machines/demo/status', '"stopped"')).toMatch(/^HTTP\/1\.1 200 /)
  // A WebSocket endpoint is found also with doubled slashes in its path.
  expect(await get('//api//v1/ws/subscribe/', '101')).toMatch(/^HTTP\/1\.1 101 /)
  await service.stop()
})
