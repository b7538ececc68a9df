import { once } from 'node:events'
import { Duplex, PassThrough } from 'node:stream'
import { http, passthrough } from 'msw'
import { afterEach, describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { openListener } from '#lib/listener/listener.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import type { App } from '#lib/http/app.ts'
import { type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

/** These tests reach the service over real connections. */
const toService = http.get('http://127.0.0.1:*/*', () => passthrough())

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Opens a tunnel over a real connection. Rejects with the status of a refusal. */
const openTunnel = async (app: App, query = '?port=22', claims = 'EXECUTE_COMMAND_VM'): Promise<WebSocket> => {
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    ...app,
  })
  const socket = new WebSocket(`${listener.url.replace('http', 'ws')}/api/v1/machines/one/tunnel${query}`, {
    headers: { authorization: `Bearer ${claims}` },
  })
  closing.push(async () => {
    socket.terminate()
    await listener.close(AbortSignal.timeout(0))
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
    socket.once('error', reject)
  })
  return socket
}

const startMachine = async (call: Call): Promise<void> => {
  await call('POST', '/api/v1/machines', { body: { name: 'One', memory: 64, disks: [{ size: 10 }] } })
  await call('PUT', '/api/v1/machines/one/start')
}
const closed = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0]

describe('GET /v1/machines/{id}/tunnel', () => {
  test('passes bytes in both directions to the port of the guest', async ({ app, call, driver, network }) => {
    network.use(toService)
    await startMachine(call)
    const ports: number[] = []
    const guest = new PassThrough()
    driver.connectToGuest = port => {
      ports.push(port)
      return guest
    }
    const socket = await openTunnel(app, '?port=2222')
    const bytes = Buffer.from([0, 255, 10, 13])
    socket.send(bytes)
    expect((await once(socket, 'message'))[0]).toEqual(bytes)
    expect(ports).toEqual([2222])
    guest.end()
    expect(await closed(socket)).toBe(1000)
  })

  test('ends the connection to the guest when the caller closes', async ({ app, call, driver, network }) => {
    network.use(toService)
    await startMachine(call)
    const guest = new PassThrough()
    driver.connectToGuest = () => guest
    const socket = await openTunnel(app)
    socket.close()
    await until(() => expect(guest.destroyed).toBe(true))
  })

  test.for([
    ['a machine that is stopped', '?port=22', 'EXECUTE_COMMAND_VM', 409],
    ['a port that is none', '?port=65536', 'EXECUTE_COMMAND_VM', 400],
    ['no port', '', 'EXECUTE_COMMAND_VM', 400],
    ['a caller without the right', '?port=22', 'other,LIST_VM,UPDATE_VM', 403],
  ] as const)('refuses %s', async ([, query, claims, status], { app, call, driver, network }) => {
    network.use(toService)
    await startMachine(call)
    await call('PUT', '/api/v1/machines/one/stop?force=true')
    driver.connectToGuest = () => expect.fail('the guest was reached')
    await expect(openTunnel(app, query, claims)).rejects.toThrow(`status ${status}`)
  })

  test('connects to no guest for a request that is no WebSocket', async ({ call, driver }) => {
    await startMachine(call)
    driver.connectToGuest = () => expect.fail('the guest was reached')
    expect(await call('GET', '/api/v1/machines/one/tunnel?port=22')).toMatchObject({ status: 426 })
  })

  test('takes binary messages only', async ({ app, call, network }) => {
    network.use(toService)
    await startMachine(call)
    const socket = await openTunnel(app)
    socket.send('text')
    expect(await closed(socket)).toBe(1003)
  })

  test('reads no more of a caller than the guest takes', async ({ app, call, driver, network }) => {
    network.use(toService)
    await startMachine(call)
    let taken = 0
    let goOn = (): void => {}
    const guest = new Duplex({
      read() {},
      write(chunk: Buffer, _, done) {
        taken += chunk.length
        goOn = done
      },
    })
    driver.connectToGuest = () => guest
    const socket = await openTunnel(app)
    const chunk = Buffer.alloc(1 << 20)
    for (let at = 0; at < 64; at += 1) socket.send(chunk)
    await until(() => expect(taken).toBe(chunk.length))
    // The rest waits at the caller, except for what the buffers of the connection hold.
    await until(() => expect(guest.writableNeedDrain).toBe(true))
    expect(socket.bufferedAmount).toBeGreaterThan(32 << 20)
    expect(guest.writableLength).toBeLessThan(8 << 20)
    goOn()
    await until(() => expect(taken).toBeGreaterThan(chunk.length))
    guest.destroy()
  })

  test('reads no more of a guest than the caller takes', async ({ app, call, driver, network }) => {
    network.use(toService)
    await startMachine(call)
    let sent = 0
    const guest = new Duplex({
      read() {
        sent += 1 << 16
        this.push(Buffer.alloc(1 << 16))
      },
      write: (_, __, done) => done(),
    })
    driver.connectToGuest = () => guest
    const socket = await openTunnel(app)
    socket.pause()
    await until(() => expect(guest.isPaused()).toBe(true))
    expect(sent).toBeLessThan(64 << 20)
    const before = sent
    socket.resume()
    await until(() => expect(sent).toBeGreaterThan(before + (8 << 20)))
    guest.destroy()
  })
})
