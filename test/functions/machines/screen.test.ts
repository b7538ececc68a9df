import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { http, passthrough } from 'msw'
import { afterEach, describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import type { App } from '#lib/http/app.ts'
import { openListener } from '#lib/listener/listener.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { type Call, test } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

/** These tests reach the service over real connections. */
const toService = http.get('http://127.0.0.1:*/*', () => passthrough())

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Opens a screen over a real connection. Rejects with the status of a refusal. */
const openScreen = async (app: App, query = ''): Promise<WebSocket> => {
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    ...app,
  })
  const socket = new WebSocket(
    `${listener.url.replace('http', 'ws')}/api/v1/machines/one/screen${query}`,
    ['base64', 'binary'],
    { headers: { authorization: 'Bearer EXECUTE_COMMAND_VM' } },
  )
  closing.push(async () => {
    socket.terminate()
    await listener.close(AbortSignal.timeout(0))
  })
  await once(socket, 'open')
  return socket
}

const startMachine = async (call: Call): Promise<void> => {
  await call('POST', '/api/v1/machines', { body: { name: 'One', memory: 64, disks: [{ size: 10 }] } })
  await call('PUT', '/api/v1/machines/one/start')
}

describe('GET /v1/machines/{id}/screen', () => {
  test('takes no more from the guest than a viewer who reads nothing can hold', async ({
    app,
    call,
    driver,
    network,
  }) => {
    network.use(toService)
    await startMachine(call)
    let given = 0
    const screen = new Duplex({
      read() {
        given += 65_536
        this.push(given < 2 ** 28 ? Buffer.alloc(65_536) : null)
      },
      write: (_chunk, _encoding, done) => done(),
    })
    driver.connectToScreen = () => screen
    const socket = await openScreen(app)
    socket.pause()
    let before = -1
    await until(() => {
      const now = given
      expect(now - before, 'it stands still').toBe((before = now) - now)
      expect(screen.isPaused()).toBe(true)
    }, 100)
    expect(given).toBeLessThan(32 * 2 ** 20)
    socket.resume()
    await until(() => expect(given).toBeGreaterThan(before))
  })

  test('chooses the subprotocol of bytes, and takes no text', async ({ app, call, network }) => {
    network.use(toService)
    await startMachine(call)
    const socket = await openScreen(app)
    expect(socket.protocol).toBe('binary')
    socket.send('text')
    expect((await once(socket, 'close'))[0]).toBe(1003)
  })

  test('is unsupported by a driver without screens, by name', async ({ call, driver }) => {
    await startMachine(call)
    Object.assign(driver, { takeScreenshot: undefined })
    const { status, body } = await call('GET', '/api/v1/machines/one/screenshot')
    expect([status, body.message]).toEqual([400, expect.stringContaining('unsupported by the qemu driver')])
  })
})
