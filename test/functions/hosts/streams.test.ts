import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { type Control, openControl } from '../../support/hosts/control.ts'
import { type ControlClient, openClient } from '../../support/hosts/control-client.ts'
import { until } from '../../support/waiting.ts'

const report = {
  version: '0.1.0',
  driver: 'qemu',
  architecture: 'x86_64',
  capacity: { cpus: 4, memory: 8_000, free_memory: 4_000 },
}
/** The present run of the host. */
let run: string
/** The requests that the host has admitted. */
let admitted: { readonly assertion: string; readonly init: RequestInit; readonly headers: Headers; body?: string }[]
let refused: number

/** A host that refuses assertions for another run before it reads the body, and accepts every WebSocket. */
const network = async (url: string, init: RequestInit): Promise<Response> => {
  const headers = new Headers(init.headers)
  const { jti = '', nonce } = decodeJwt(headers.get('authorization')!.slice('Bearer '.length))
  if (nonce !== run) {
    refused += 1
    return Response.json({ code: 401, message: 'another run' }, { status: 401, headers: { 'assertion-nonce': run } })
  }
  const body = init.body instanceof ReadableStream ? await new Response(init.body).text() : undefined
  admitted.push({ assertion: jti, init, headers, ...(body !== undefined && { body }) })
  // What the runtime of the edge gives for a WebSocket; `Response` itself refuses this status.
  const switched = { status: 101, headers: new Headers(), body: null, webSocket: { of: jti } } as unknown as Response
  if (headers.get('upgrade') === 'websocket') return switched
  if (new URL(url).pathname.endsWith('/console'))
    return new Response('<script>', { headers: { 'content-type': 'text/html' } })
  return Response.json({ path: '/etc/motd', size: 4, sha256: '0'.repeat(64) })
}

let control: Control
let client: ControlClient
let host: { readonly id: string; readonly key: string }
const beat = async (more: object = {}): Promise<void> => {
  const headers = { 'x-host-key': host.key }
  const { status } = await client.ask('PUT', `/hosts/${host.id}/heartbeat`, { headers, body: { ...report, ...more } })
  expect(status).toBe(200)
}
const write = (body = 'text') => client.asRoot('PUT', '/machines/web/files?host=a&path=/etc/motd', body)

beforeEach(async () => {
  run = crypto.randomUUID()
  admitted = []
  refused = 0
  control = await openControl({ fetch: network })
  client = await openClient(control.app)
  host = (await client.asRoot('POST', '/hosts', { name: 'a', url: 'https://a.example.test' })).body
  await beat({ nonce: run })
})
afterEach(async () => {
  vi.useRealTimers()
  await control[Symbol.asyncDispose]()
})

describe('a file for a guest behind a control', () => {
  test('is sent at once, because the heartbeat has named the run of the host', async () => {
    const headers = { 'repr-digest': 'sha-256=:x:' }
    const answer = await client.asRoot('PUT', '/machines/web/files?host=a&path=/etc/motd', 'text', headers)
    expect(answer).toMatchObject({ status: 200, body: { path: '/etc/motd' } })
    expect([refused, admitted.length, admitted[0]?.body]).toEqual([0, 1, 'text'])
    expect(admitted[0]?.headers.get('repr-digest')).toBe(headers['repr-digest'])
  })

  test('for a host that has just started again is to be sent again, and nothing was done', async () => {
    run = crypto.randomUUID()
    const answer = await write()
    expect(answer).toMatchObject({ status: 503, body: { message: expect.stringContaining('a has started again') } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(admitted).toEqual([])
    expect(await write()).toMatchObject({ status: 200 })
  })
})

describe('a WebSocket to a guest behind a control', () => {
  /** Opens a tunnel; gives what the client gets, and the signal that ends it. */
  const openTunnel = async (token: string) => {
    const request = new Request('https://control.example.test/api/v1/machines/web/tunnel?host=a&port=22', {
      headers: { authorization: `Bearer ${token}` },
    })
    const upgrade = await control.app.upgrade(request, { address: '192.0.2.1' })
    if (!(upgrade instanceof Upgrade)) throw new Error(`${upgrade.status} ${await upgrade.text()}`)
    let passedOn: object | undefined
    upgrade.accept({
      isGone: () => false,
      refuse: (_, message) => expect.fail(message),
      onClosed: () => {},
      passOn: socket => (passedOn = socket),
    })
    const { assertion, init } = admitted.at(-1)!
    return { passedOn, assertion, signal: init.signal! }
  }
  const claims = ['EXECUTE_COMMAND_VM', 'LIST_VM']

  test('is that of the host, and lives as long as the host reports it', async () => {
    const { passedOn, assertion, signal } = await openTunnel(await client.signInWith('alice', claims))
    expect(passedOn).toEqual({ of: assertion })
    // The first report may be older than the connection.
    await beat({ nonce: run, connections: [] })
    for (const _ of [1, 2, 3]) await beat({ nonce: run, connections: [assertion] })
    await beat({ nonce: run, connections: [] })
    expect(signal.aborted).toBe(false)
    await beat({ nonce: run, connections: [] })
    expect(signal.aborted).toBe(true)
  })

  test.for([
    ['has lost a claim, also with another one that would do', '/auth/users/alice/claims/EXECUTE_COMMAND_VM'],
    ['has lost another one that it was opened with', '/auth/users/alice/claims/LIST_VM'],
    ['was removed', '/auth/users/alice'],
  ] as const)('ends when its caller %s', async ([, path]) => {
    const { signal } = await openTunnel(await client.signInWith('alice', claims))
    const { signal: second } = await openTunnel(await client.signInWith('bob', claims))
    expect((await client.asRoot('DELETE', path)).status).toBeLessThan(300)
    await until(() => expect(signal.aborted).toBe(true))
    expect(second.aborted).toBe(false)
  })

  test('ends when its host is silent, and when it was removed', async () => {
    const token = await client.signInWith('alice', claims)
    const { signal } = await openTunnel(token)
    const heard = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: heard + 46_000 })
    await until(() => expect(signal.aborted).toBe(true))
    vi.useRealTimers()
    await beat({ nonce: run })
    const later = await openTunnel(token)
    await client.asRoot('DELETE', '/hosts/a')
    await until(() => expect(later.signal.aborted).toBe(true))
  })

  test('is one of at most a hundred of a user', async () => {
    const token = await client.signInWith('alice', claims)
    for (let at = 0; at < 100; at += 1) await openTunnel(token)
    await expect(openTunnel(token)).rejects.toThrow('503')
    await openTunnel(await client.signInWith('bob', claims))
  })
})

test('a text of a host is no page', async () => {
  const request = new Request('https://control.example.test/api/v1/machines/web/console?host=a&follow=false', {
    headers: { authorization: `Bearer ${await client.signInWith('alice', ['EXECUTE_COMMAND_VM', 'LIST_VM'])}` },
  })
  const reply = await control.app.fetch(request)
  expect(reply.headers.get('content-type')).toBe('application/octet-stream')
  expect(await reply.text()).toBe('<script>')
})
