import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openCountingServer } from '../support/network/counting-server.ts'
import { getSmallLinux } from '../support/guests/linux.ts'
import { waitForSerial } from '../support/guests/serial-shell.ts'
import { withoutGuests } from '../support/network/requirements.ts'
import { until } from '../support/waiting.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'

/** Opens a tunnel to a port of the machine `linux`. Rejects with the status of a refusal. */
const openTunnel = async (service: Service, state: string, token: string, port: number): Promise<WebSocket> => {
  const url = `${service.url.replace('http', 'ws')}/api/v1/machines/linux/tunnel?port=${port}&access_token=${token}`
  const socket = new WebSocket(url, { ca: readFileSync(join(state, 'tls/cert.pem')) })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
    socket.once('error', reject)
  })
  return socket
}
const exchange = async (socket: WebSocket, text: string): Promise<string> => {
  socket.send(Buffer.from(text))
  return String((await once(socket, 'message'))[0])
}
const closed = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0]

describe.skipIf(withoutGuests !== undefined)(withoutGuests ?? 'the network of a guest, over the service', () => {
  test('a forward and tunnels lead to the guest, also after a kill of the service; tunnels end with what they need', async () => {
    using state = newState()
    const { kernel, initrd, cmdline } = getSmallLinux()
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_ALLOWED_FOLDERS: dirname(kernel) }
    let service = await startService({ state: state.path, driver: 'qemu', env })
    const token = await service.signIn()
    const ask = async (method: string, path: string, body?: object) =>
      (await service.call(method, `/api/v1/machines${path}`, { token, body })).body
    await using free = await openCountingServer('127.0.0.1')
    const { port } = free
    await free[Symbol.asyncDispose]()
    const forwards = [{ host_port: port, guest_port: 80 }]
    const { id } = await ask('POST', '', { name: 'linux', memory: 128, kernel, initrd, cmdline, forwards })
    const [{ Home: home }] = await ask('GET', `/${id}`)
    await expect(openTunnel(service, state.path, token, 7)).rejects.toThrow('status 409')
    await ask('PUT', '/linux/start')
    await waitForSerial({ home, name: 'linux' }, /GUEST:IP eth0/)

    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('small linux\n')
    const tunnel = await openTunnel(service, state.path, token, 7)
    expect(await exchange(tunnel, 'hello')).toBe('hello')
    const large = 'x'.repeat(900_000)
    let received = 0
    // Several messages can come at once, so all are counted by one listener.
    tunnel.on('message', (data: Buffer) => void (received += data.length))
    tunnel.send(Buffer.from(large))
    await until(() => expect(received).toBeGreaterThanOrEqual(large.length))
    expect(received).toBe(large.length)
    await expect(openTunnel(service, state.path, token, 9)).rejects.toThrow('status 502')

    await service.kill()
    service = await startService({ state: state.path, driver: 'qemu', env })
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('small linux\n')
    const second = await service.signIn()
    const ended = await openTunnel(service, state.path, second, 7)
    expect(await exchange(ended, 'again')).toBe('again')
    const signedOut = closed(ended)
    await service.call('DELETE', '/api/v1/auth/token', { token: second })
    expect(await signedOut).toBe(1008)

    const last = await openTunnel(service, state.path, token, 7)
    const stopped = closed(last)
    await ask('PUT', '/linux/stop?force=true')
    expect([1000, 1001]).toContain(await stopped)
    await service.stop()
  })
})
