import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ConsoleClient, openConsoleSocket } from '../support/guests/console-client.ts'
import { getSmallLinux } from '../support/guests/linux.ts'
import { withoutGuests } from '../support/network/requirements.ts'
import { newState, type Service, startService } from '../support/service.ts'
import { rounds } from '../support/rounds.ts'
import { until } from '../support/waiting.ts'
import { type Edge, rootPassword, startEdge } from '../support/workerd/edge.ts'

const issuer = 'https://control.example.test'
const formatDigest = (bytes: Uint8Array): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`

/** A reply that begins, and whose rest does not come before `finish`. */
const openEndlessBody = (): { readonly body: ReadableStream<Uint8Array>; finish(): void } => {
  let finish = (): void => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.alloc(100_000))
      finish = () => controller.close()
    },
  })
  return { body, finish }
}

describe.skipIf(withoutGuests !== undefined)(withoutGuests ?? 'streams through the edge to a real guest', () => {
  const state = newState()
  let edge: Edge
  let host: Service
  let root: string
  let startHost: (port: number) => Promise<Service>

  const machines = (path: string): string => `${edge.url}/api/v1/machines${path}`
  const connect = async (path: string, token: string): Promise<ConsoleClient> =>
    openConsoleSocket(machines(path).replace('http', 'ws'), { headers: { authorization: `Bearer ${token}` } })
  const openTunnel = (port: number, token = root): Promise<ConsoleClient> =>
    connect(`/linux/tunnel?port=${port}`, token)
  const send = (method: string, path: string, init: RequestInit = {}, token = root): Promise<Response> =>
    fetch(machines(path), {
      method,
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
      duplex: 'half',
    } as RequestInit)
  const execute = async (command: string): Promise<string> => {
    const { status, body } = await edge.ask('PUT', '/v1/machines/linux/execute', { token: root, body: { command } })
    expect(status, JSON.stringify(body)).toBe(200)
    return body.stdout
  }
  const waitForFile = (name: RegExp): Promise<void> =>
    until(async () => expect(await execute('ls /tmp')).toMatch(name), 200)
  /** A user who may enter the guest until the claim is taken away. */
  const addUser = async (username: string): Promise<{ token: string; revoke(): Promise<void> }> => {
    const user = { username, password: 'Somebodys-0wn-Password' }
    const claims = ['EXECUTE_COMMAND_VM', 'LIST_VM']
    const body = { ...user, name: username, email: `${username}@example.test`, roles: [], claims }
    expect(await edge.ask('POST', '/v1/auth/users', { token: root, body })).toMatchObject({ status: 201 })
    return {
      token: await edge.signIn(user),
      async revoke() {
        const path = `/v1/auth/users/${username}/claims/EXECUTE_COMMAND_VM`
        expect((await edge.ask('DELETE', path, { token: root })).status).toBeLessThan(300)
      },
    }
  }

  beforeAll(async () => {
    edge = await startEdge({
      network: ['public', 'private', 'local'],
      variables: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_ISSUER: issuer },
    })
    root = await edge.signIn()
    // The port is known when the host serves; its address is changed then.
    const registered = await edge.ask('POST', '/v1/hosts', {
      token: root,
      body: { name: 'a', url: 'http://127.0.0.1:1' },
    })
    const { id, key } = registered.body
    const { kernel, initrd, cmdline } = getSmallLinux()
    startHost = port =>
      startService({
        state: state.path,
        driver: 'qemu',
        env: {
          VMHOST_ROOT_PASSWORD: rootPassword,
          VMHOST_LISTEN: `http://127.0.0.1:${port}`,
          VMHOST_DEMO: 'off',
          VMHOST_ALLOWED_FOLDERS: dirname(kernel),
          VMHOST_CONTROL_URL: edge.url,
          VMHOST_CONTROL_KEY: key,
          VMHOST_TRUSTED_ISSUERS: JSON.stringify([{ issuer, jwks: `${edge.url}/.well-known/jwks.json`, audience: id }]),
        },
      })
    host = await startHost(0)
    await edge.ask('PUT', '/v1/hosts/a', { token: root, body: { url: host.url } })
    await until(async () =>
      expect((await edge.ask('GET', '/v1/hosts/a', { token: root })).body).toMatchObject({ state: 'reachable' }),
    )
    const body = { name: 'linux', memory: 128, kernel, initrd, cmdline }
    expect(await edge.ask('POST', '/v1/machines', { token: root, body })).toMatchObject({ status: 201 })
    expect(await edge.ask('PUT', '/v1/machines/linux/start', { token: root })).toMatchObject({ status: 200 })
    for (const condition of ['serial:GUEST:IP', 'agent'])
      expect(
        await edge.ask('GET', `/v1/machines/linux/wait?timeout=120&for=${condition}`, { token: root }),
      ).toMatchObject({ body: { result: 'met' } })
  })
  afterAll(async () => {
    await host?.kill()
    await edge?.[Symbol.asyncDispose]()
    state[Symbol.dispose]()
  })

  test(`a file of ${rounds(1, 4)} MB goes there and back, with its digest, and both audits name who did it`, async () => {
    // The agent of a guest takes some seconds for each megabyte where QEMU emulates the processor.
    const content = randomBytes(rounds(1, 4) << 20)
    const file = '/linux/files?path=/tmp/large'
    const wrong = await send('PUT', file, { body: 'y', headers: { 'repr-digest': formatDigest(Buffer.from('x')) } })
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { message: expect.stringContaining('SHA-256') }])
    const written = await send('PUT', file, { body: content, headers: { 'repr-digest': formatDigest(content) } })
    expect([written.status, await written.json()]).toMatchObject([200, { path: '/tmp/large', size: content.length }])
    const read = await send('GET', file)
    expect(Object.fromEntries(read.headers)).toMatchObject({
      'content-length': String(content.length),
      'content-type': 'application/octet-stream',
    })
    expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
    await execute('echo small >/tmp/small')
    const small = await send('GET', '/linux/files?path=/tmp/small', { headers: { 'want-repr-digest': 'sha-256=1' } })
    expect(small.headers.get('repr-digest')).toBe(formatDigest(Buffer.from('small\n')))
    await small.body?.cancel()
    const here = await edge.ask('GET', '/v1/audit?operation=machines/write-file', { token: root })
    const there = await host.call('GET', '/api/v1/audit?operation=machines/write-file', {
      token: await host.signIn(rootPassword),
    })
    for (const { body } of [here, there])
      expect(body.entries).toMatchObject([
        { username: 'root', status: 200, details: { path: '/tmp/large' } },
        { username: 'root', status: 400, details: { path: '/tmp/large' } },
      ])
    expect(there.body.entries[0].issuer).toBe(issuer)
  })

  test('what is typed on the console reaches the guest, and its output comes back, also as text', async () => {
    const console = await connect('/linux/console?writer=claim&offset=-1', root)
    console.socket.send(Buffer.from('echo typed-$((40 + 2))\n'))
    await until(() => expect(console.output()).toContain('typed-42'))
    expect(console.messages[0]).toMatchObject({ writer: true })
    console.socket.close(1000)
    expect(await console.closed).toMatchObject({ code: 1000 })
    const text = await send('GET', '/linux/console?follow=false&offset=-200')
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(Number(text.headers.get('x-console-end'))).toBeGreaterThan(0)
    expect(await text.text()).toContain('typed-42')
  })

  test('a tunnel passes bytes in both directions, and each side sees the end of the other one', async () => {
    const tunnel = await openTunnel(7)
    const bytes = randomBytes(900_000)
    tunnel.socket.send(bytes)
    await until(() => expect(tunnel.size()).toBe(bytes.length))
    expect(tunnel.output()).toBe(bytes.toString('latin1'))
    tunnel.socket.send('text')
    expect(await tunnel.closed).toEqual({ code: 1003, reason: 'This connection takes binary messages.' })
    await expect(openTunnel(9)).rejects.toThrow('status 502')
  })

  test('a reader that stops stops the guest, and the memory of the edge does not grow', async () => {
    await execute('nc -ll -p 9000 -e cat /dev/zero >/dev/null 2>&1 &')
    const tunnel = await until(() => openTunnel(9000))
    await until(() => expect(tunnel.size()).toBeGreaterThan(1 << 20))
    const before = edge.memory()
    tunnel.socket.pause()
    const countSent = async (): Promise<number> => Number(await execute('cat /sys/class/net/eth0/statistics/tx_bytes'))
    // Each look sends some bytes itself.
    await until(async () => {
      const earlier = await countSent()
      expect((await countSent()) - earlier).toBeLessThan(64_000)
    }, 200)
    expect(edge.memory() - before).toBeLessThan(32 << 20)
    const size = tunnel.size()
    tunnel.socket.resume()
    await until(() => expect(tunnel.size()).toBeGreaterThan(size + (4 << 20)))
    tunnel.socket.terminate()
  })

  test('a right that is taken away ends all that was opened with it', async () => {
    const { token, revoke } = await addUser('alice')
    await execute('dd if=/dev/zero of=/tmp/zeros bs=1M count=8')
    const console = await connect('/linux/console', token)
    const tunnel = await openTunnel(7, token)
    const read = await send('GET', '/linux/files?path=/tmp/zeros', {}, token)
    expect(read.status).toBe(200)
    const { body } = openEndlessBody()
    const write = send('PUT', '/linux/files?path=/tmp/never', { body }, token)
    await waitForFile(/never\./)
    await revoke()
    for (const closed of [console.closed, tunnel.closed]) expect((await closed).code).toBe(1006)
    const refused = await write
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { message: expect.stringContaining('EXECUTE_COMMAND_VM') },
    ])
    await expect(read.arrayBuffer()).rejects.toThrow('terminated')
    await until(async () => expect(await execute('ls /tmp')).not.toContain('never'), 200)
    const again = await send('GET', '/linux/files?path=/tmp/zeros', {}, token)
    expect([again.status, await again.json()]).toMatchObject([403, { message: expect.stringContaining('not yours') }])
  })

  test('a sign-out ends them too', async () => {
    const { token } = await addUser('bob')
    const tunnel = await openTunnel(7, token)
    expect(await edge.ask('DELETE', '/v1/auth/token', { token })).toMatchObject({ status: 202 })
    expect((await tunnel.closed).code).toBe(1006)
  })

  test('a host that dies ends them, and who asks again learns which one it was', async () => {
    const console = await connect('/linux/console', root)
    const tunnel = await openTunnel(7)
    const { body } = openEndlessBody()
    const write = send('PUT', '/linux/files?path=/tmp/never', { body })
    await waitForFile(/never\./)
    const { port } = new URL(host.url)
    await host.kill()
    for (const closed of [console.closed, tunnel.closed]) expect((await closed).code).toBe(1006)
    for (const reply of [await write, await send('GET', '/linux/console?follow=false')])
      expect([reply.status, await reply.json()]).toMatchObject([
        503,
        { message: expect.stringContaining('host a does not answer') },
      ])
    await expect(openTunnel(7)).rejects.toThrow('status 503')
    // The guest has gone on, and so does everything when the host is back.
    host = await startHost(Number(port))
    const later = await until(() => openTunnel(7))
    later.socket.send(Buffer.from('again'))
    expect(String((await once(later.socket, 'message'))[0])).toBe('again')
    expect(later.socket.readyState).toBe(WebSocket.OPEN)
    later.socket.terminate()
  })
})
