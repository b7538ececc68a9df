import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { routes } from '#functions/routes.gen.ts'
import { every } from '#lib/async/every.ts'
import { CreateTicket } from '#lib/auth/tickets/schemas.ts'
import { createApp } from '#lib/http/app.ts'
import { openListener } from '#lib/listener/listener.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { createTunnels } from '#lib/machines/tunnels/tunnels.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { createSimulatedDriver } from '../../support/drivers/simulated-driver.ts'
import { newEventLog } from '../../support/events.ts'
import { newFolder } from '../../support/folder.ts'
import { host } from '../../support/harness.ts'
import { newIdentity, rootPassword } from '../../support/identity.ts'
import { refuseImage } from '../../support/images.ts'

const screen = '/v1/machines/one/screen'

/** A service with users and one running machine, over real connections. */
const openService = async () => {
  const stack = new AsyncDisposableStack()
  const folder = newFolder()
  stack.defer(() => folder[Symbol.dispose]())
  const driver = createSimulatedDriver(folder.path)
  driver.connectToScreen = () => new PassThrough()
  const machines = await openMachines({
    driver,
    host,
    leaseImage: refuseImage,
    stopTimeout: 200,
    ...(await newEventLog()),
  })
  stack.defer(() => machines.close())
  const tunnels = stack.use(createTunnels(every))
  const { services, authenticate, redeemTicket } = await newIdentity()
  const served = /^auth\/|^users\/|^roles\/|^machines\/(console|screen|tunnel)$/
  const app = createApp({
    routes: routes.filter(({ id }) => served.test(id)),
    services: { ...services, machines, tunnels },
    authenticate,
    redeemTicket,
    onOutcome: () => {},
    checkReplies: true,
    parseFilter: async () => ({ matches: () => true }) as never,
  })
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    ...app,
  })
  stack.defer(() => listener.close(AbortSignal.timeout(0)))
  await machines.create({ name: 'one', memory: 16, disks: [{ size: 1 }] } as never)
  await machines.run('one', 'start')

  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${listener.url}/api${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const signIn = async (username: string, password: string): Promise<string> =>
    (await send('POST', '/v1/auth/token', { username, password })).body.token
  const root = await signIn('root', rootPassword)
  return {
    send,
    bearer,
    signIn,
    root,
    asRoot: (method: string, path: string, body?: object) => send(method, path, body, bearer(root)),
    async issue(headers: Record<string, string>, path = screen): Promise<string> {
      const { status, body } = await send('POST', '/v1/auth/tickets', { path }, headers)
      expect(status, body.message).toBe(201)
      return body.ticket
    },
    /** Opens a WebSocket. Rejects with the status of a refusal. */
    async open(path: string): Promise<WebSocket> {
      const socket = new WebSocket(`${listener.url.replace('http', 'ws')}/api${path}`)
      stack.defer(() => socket.terminate())
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve)
        socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
        socket.once('error', reject)
      })
      return socket
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const password = 'Another-Horse-7-Battery'

describe('tickets for WebSockets', () => {
  let service: Awaited<ReturnType<typeof openService>>
  beforeEach(async () => void (service = await openService()))
  afterEach(async () => {
    vi.useRealTimers()
    await service[Symbol.asyncDispose]()
  })

  test('a ticket opens its WebSocket once', async () => {
    const { issue, open, bearer, root } = service
    const ticket = await issue(bearer(root))
    const socket = await open(`${screen}?ticket=${ticket}`)
    socket.send(Buffer.from('RFB 003.008\n'))
    expect(String((await once(socket, 'message'))[0])).toBe('RFB 003.008\n')
    await expect(open(`${screen}?ticket=${ticket}`)).rejects.toThrow('401')
  })

  test('the reply says until when, and a ticket is worth nothing afterwards', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { send, open, bearer, root } = service
    const { body } = await send('POST', '/v1/auth/tickets', { path: screen }, bearer(root))
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'ticket'])
    expect(Date.parse(body.expires_at)).toBe(Date.now() + 30_000)
    vi.setSystemTime(Date.now() + 30_001)
    await expect(open(`${screen}?ticket=${body.ticket}`)).rejects.toThrow('401')
  })

  test.for([
    ['another machine', '/v1/machines/two/screen'],
    ['another WebSocket', '/v1/machines/one/console'],
    ['another query', '/v1/machines/one/screen?view_only=true'],
  ] as const)('a ticket for %s is refused, and used up', async ([, path]) => {
    const { issue, open, bearer, root } = service
    const ticket = await issue(bearer(root), path)
    await expect(open(`${screen}?ticket=${ticket}`)).rejects.toThrow('401')
    await expect(open(`${path}${path.includes('?') ? '&' : '?'}ticket=${ticket}`)).rejects.toThrow('401')
  })

  test('the order and the escapes of the query do not matter', async () => {
    const { issue, open, bearer, root } = service
    const ticket = await issue(bearer(root), '/v1/machines/%6Fne/console?writer=claim&offset=%30')
    await open(`/v1/machines/one/console?ticket=${ticket}&offset=0&writer=claim`)
  })

  test.for([
    ['/v1/machines', 'no WebSocket'],
    ['/api/v1/machines/one/screen', 'with the prefix'],
    ['/v1/machines/%ZZ/screen', 'no escape'],
    ['https://example.org/v1/machines/one/screen', 'an address'],
  ])('%s is refused: %s', async ([path]) => {
    const { body, status } = await service.asRoot('POST', '/v1/auth/tickets', { path })
    expect([status, body.message]).toEqual([400, expect.stringContaining('path')])
  })

  test('a ticket has the rights of its user at the moment, and goes with the session', async () => {
    const { asRoot, signIn, send, issue, open, bearer } = service
    await asRoot('POST', '/v1/auth/users', { username: 'jane', name: 'Jane', email: 'jane@example.org', password })
    const token = await signIn('jane', password)
    await expect(open(`${screen}?ticket=${await issue(bearer(token))}`)).rejects.toThrow('403')
    const unused = await issue(bearer(token))
    await send('DELETE', '/v1/auth/token', undefined, bearer(token))
    await expect(open(`${screen}?ticket=${unused}`)).rejects.toThrow('401')
    expect((await send('POST', '/v1/auth/tickets', { path: screen })).status).toBe(401)
  })

  test('a screen that a ticket has opened closes when the user signs out', async () => {
    const { issue, open, bearer, root, asRoot } = service
    const socket = await open(`${screen}?ticket=${await issue(bearer(root))}`)
    const closed = once(socket, 'close')
    await asRoot('DELETE', '/v1/auth/token')
    expect((await closed)[0]).toBe(1008)
  })

  test('a screen closes when the user loses the role, and when the API key is revoked', async () => {
    const { asRoot, signIn, issue, open, bearer } = service
    await asRoot('POST', '/v1/auth/users', { username: 'jane', name: 'Jane', email: 'jane@example.org', password })
    await asRoot('POST', '/v1/auth/users/jane/claims', { name: 'EXECUTE_COMMAND_VM' })
    const byToken = await open(`${screen}?ticket=${await issue(bearer(await signIn('jane', password)))}`)
    const { body: key } = await asRoot('POST', '/v1/auth/api_keys', { name: 'viewer' })
    const byKey = await open(`${screen}?ticket=${await issue({ 'x-api-key': key.encoded })}`)
    const closed = [once(byToken, 'close'), once(byKey, 'close')]
    await asRoot('DELETE', '/v1/auth/users/jane/claims/EXECUTE_COMMAND_VM')
    expect((await closed[0]!)[0]).toBe(1008)
    expect(byKey.readyState).toBe(WebSocket.OPEN)
    await asRoot('PUT', `/v1/auth/api_keys/${key.id}/revoke`)
    expect((await closed[1]!)[0]).toBe(1008)
  })

  test('one user can have a hundred unused tickets', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { asRoot } = service
    const issue = async () => (await asRoot('POST', '/v1/auth/tickets', { path: screen })).status
    for (let at = 0; at < 100; at += 1) expect(await issue()).toBe(201)
    expect(await issue()).toBe(503)
    vi.setSystemTime(Date.now() + 30_001)
    expect(await issue()).toBe(201)
  })
})

test('there is a ticket for each WebSocket that takes a token from the query, and for nothing else', () => {
  for (const { endpoint } of routes) {
    const path = endpoint.path.replace(/\{\w+\}/g, 'one')
    expect(CreateTicket.safeParse({ path }).success, path).toBe(endpoint.tokenInQuery === true)
  }
})
