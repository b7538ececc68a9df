import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../../support/service.ts'
import { until } from '../../support/waiting.ts'

/** A message as a client frames it, with a mask that changes nothing. */
const ask = Buffer.from('{"event_type":"health","message":"ping"}')
const frame = Buffer.concat([Buffer.of(0x81, 0x80 | ask.length, 0, 0, 0, 0), ask])
const asked = 100_000

test('a WebSocket client that sends requests without reading the replies is paused until it reads, and memory does not grow', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }
  const service = await startService({ state: state.path, env })
  const token = await service.signIn()
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.write(
    [
      'GET /api/v1/ws/subscribe HTTP/1.1',
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      `Authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n'),
  )
  const clients = async () => (await service.call('GET', '/api/v1/ws/clients', { token })).body
  await until(async () => expect(await clients()).toHaveLength(1))
  socket.pause()
  socket.write(Buffer.concat(Array.from({ length: asked }, () => frame)))
  /** What waits to be sent when that has not changed in ten looks. */
  let [waiting, looks] = [0, 0]
  await until(async () => {
    const [{ queue_depth: now }] = await clients()
    looks = now > 100_000 && now === waiting ? looks + 1 : 0
    waiting = now
    expect(looks).toBe(10)
  }, 50)
  expect(waiting).toBeLessThan(3_000_000)

  let answers = 0
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1')
    answers += text.split('"pong"').length - 1
    rest = text.slice(-5)
  })
  socket.resume()
  await until(() => expect(answers).toBe(asked))
  socket.destroy()
  await service.stop()
})
