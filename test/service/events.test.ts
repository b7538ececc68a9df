import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { describe, expect, test } from 'vitest'
import type { EventMessage } from '#lib/events/event.ts'
import { readCommandLine } from '#lib/platform/processes.ts'
import { buildBootSectorDisk } from '../support/guests/boot-sector.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { rounds } from '../support/rounds.ts'
import { typeOnSerialLine } from '../support/guests/serial.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { pause, until } from '../support/waiting.ts'

const modes = ['inline', 'process'] as const
type Mode = (typeof modes)[number]
/** In every run the default alone is tried at length, or the one of which more can be killed; by `npm run full` both. */
const mostlyInline = rounds<readonly Mode[]>(['inline'], modes)
const mostlyProcess = rounds<readonly Mode[]>(['process'], modes)
const wanted = rounds(60, 1_000)
const envOf = (mode: Mode): Record<string, string> => ({
  VMHOST_ROOT_PASSWORD: rootPassword,
  VMHOST_EVENTS: mode,
})
interface Reader {
  readonly messages: EventMessage[]
  readonly socket: WebSocket
  /** The close code, once it is closed. */
  readonly closed: Promise<number>
  waitFor(message: string): Promise<EventMessage>
}

const read = (
  service: Service,
  state: string,
  token: string,
  query = '',
  headers: Record<string, string> = {},
): Promise<Reader> =>
  new Promise((resolve, reject) => {
    const messages: EventMessage[] = []
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/ws/subscribe${query}`, {
      ca: readFileSync(join(state, 'tls/cert.pem')),
      headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    })
    const closed = new Promise<number>(settle => socket.once('close', settle))
    socket.on('message', (data: Buffer) => {
      messages.push(JSON.parse(data.toString()))
      if (messages.length === 1)
        resolve({
          messages,
          socket,
          closed,
          waitFor: async message =>
            until(() => messages.find(one => one.message === message) ?? expect.fail(`no ${message} yet`)),
        })
    })
    socket.once('error', reject)
    // Killed between the handshake and the welcome.
    socket.once('close', () => reject(new Error('closed')))
    socket.once('unexpected-response', (_, response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => void (text += chunk.toString()))
      response.once('end', () => reject(Object.assign(new Error(text), { status: response.statusCode })))
    })
  })

describe.each(modes)('events over a WebSocket, served by: %s', mode => {
  const env = envOf(mode)

  test('arrive as they happen, after a welcome; pings are answered', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env })
    const token = await service.signIn()
    const reader = await read(service, state.path, token, '?event_types=PDFM,auth,nonsense')
    expect(reader.messages[0]).toMatchObject({
      event_type: 'global',
      message: 'WebSocket connection established subscribed to global by default',
      body: {
        subscriptions: ['pdfm', 'auth', 'global'],
        unknown_event_types: ['nonsense'],
        client_id: expect.any(String),
      },
    })
    reader.socket.send('{"event_type":"health","message":"ping","id":"mine"}')
    expect(await reader.waitFor('pong')).toMatchObject({ event_type: 'health', ref_id: 'mine' })
    reader.socket.send('not JSON')
    expect(await reader.waitFor('error')).toMatchObject({ event_type: 'global', body: { error: expect.any(String) } })
    await service.call('PUT', '/api/v1/machines/demo/start', { token })
    await until(() =>
      expect(
        reader.messages.filter(one => one.message === 'VM_STATE_CHANGED').map(one => one.body!['current_state']),
      ).toEqual(['starting', 'running']),
    )
    const { client_id: client } = reader.messages[0]!.body!
    const unsubscribe = (types: string[], by = token) =>
      service.call('POST', '/api/v1/ws/unsubscribe', { token: by, body: { client_id: client, event_types: types } })
    const jane = { username: 'jane', name: 'Jane', email: 'jane@example.test', password: 'Another-Horse-7-Battery' }
    expect((await service.call('POST', '/api/v1/auth/users', { token, body: jane })).status).toBe(201)
    const { body: others } = await service.call('POST', '/api/v1/auth/token', { body: jane })
    expect((await unsubscribe(['pdfm'], others.token)).status).toBe(403)
    expect((await unsubscribe(['global'])).status).toBe(400)
    expect((await unsubscribe(['stats'])).status).toBe(400)
    expect((await unsubscribe(['pdfm'])).status).toBe(200)
    expect((await service.call('GET', '/api/v1/ws/clients', { token })).body).toMatchObject([
      { id: client, username: 'root', event_subscriptions: ['auth', 'global'], is_alive: true },
    ])
    await service.stop()
    expect(await reader.closed).toBe(1001)
  })
})

describe.each(mostlyInline)('events over a WebSocket, served by: %s,', mode => {
  const env = envOf(mode)

  test('are refused with the documented body', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env: { ...env, VMHOST_SUBSCRIPTIONS_PER_USER: '1' } })
    const token = await service.signIn()
    const refused = async (expected: number, ...how: [string, string?, Record<string, string>?]): Promise<void> => {
      const error = await read(service, state.path, ...how).catch((error: Error & { status?: number }) => error)
      expect(error).toMatchObject({ status: expected })
      expect(JSON.parse((error as Error).message)).toMatchObject({ code: expected, message: expect.any(String) })
    }
    await refused(401, '')
    await refused(401, 'nonsense')
    await refused(400, token, '?since=nonsense')
    const reader = await read(service, state.path, '', `?event_types=pdfm&authorization=${token}`)
    await refused(503, token)
    reader.socket.close()
    await reader.closed
    const second = await read(service, state.path, '', `?access_token=${token}`)
    second.socket.close()
    expect(service.log()).not.toContain(token)
    // Another protocol is not taken up, and the request is served as it is.
    const raw = (path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const ca = readFileSync(join(state.path, 'tls/cert.pem'))
        const sent = request(`${service.url}${path}`, { ca, headers }, response => {
          let text = ''
          response.on('data', (chunk: Buffer) => void (text += chunk.toString()))
          response.once('end', () => resolve({ status: response.statusCode!, text }))
        })
        sent.once('error', reject)
        sent.end()
      })
    expect(await raw('/api/health/probe', { connection: 'upgrade', upgrade: 'h2c' })).toMatchObject({ status: 200 })
    const bad = await raw('/api/v1/ws/subscribe', {
      connection: 'upgrade',
      upgrade: 'websocket',
      authorization: `Bearer ${token}`,
    })
    expect(bad.status).toBe(400)
    expect(JSON.parse(bad.text)).toMatchObject({ code: 400, message: expect.stringContaining('handshake') })
    await service.stop()
  })

  test('end or are reduced when the credential ends or is reduced', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env })
    const root = await service.signIn()
    const ask = (method: string, path: string, body?: object) =>
      service.call(method, `/api/v1${path}`, { token: root, ...(body && { body }) })
    const user = {
      username: 'jane',
      name: 'Jane',
      email: 'j@example.test',
      password: rootPassword,
      roles: [],
      claims: ['LIST_VM'],
    }
    await ask('POST', '/auth/users', user)
    const signIn = async (body: object): Promise<string> =>
      (await service.call('POST', '/api/v1/auth/token', { body })).body.token
    const jane = await signIn({ username: 'jane', password: rootPassword })
    const reader = await read(service, state.path, jane, '?event_types=pdfm')
    await ask('PUT', '/machines/demo/start')
    await reader.waitFor('VM_STATE_CHANGED')
    const whole = await read(service, state.path, root, '?event_types=pdfm')
    /** Changes the machine, and tells whether that was told to the user, by when it was told to root. */
    const isTold = async (): Promise<boolean> => {
      const before = [whole.messages.length, reader.messages.length] as const
      const operations = [{ group: 'description', operation: 'set', value: String(before[0]) }]
      await ask('PUT', '/machines/demo/set', { operations })
      await until(() => expect(whole.messages.length).toBeGreaterThan(before[0]))
      await pause(100)
      return reader.messages.length > before[1]
    }
    expect(await isTold()).toBe(true)
    await ask('DELETE', '/auth/users/jane/claims/LIST_VM')
    await until(async () => expect(await isTold()).toBe(false))
    expect(await isTold()).toBe(false)
    await service.call('DELETE', '/api/v1/auth/token', { token: jane })
    expect(await reader.closed).toBe(1008)

    const key = (await ask('POST', '/auth/api_keys', { name: 'k' })).body.encoded
    const keyed = await read(service, state.path, '', '?event_types=auth', { 'x-api-key': key })
    await ask('PUT', '/auth/api_keys/k/revoke')
    expect(await keyed.closed).toBe(1008)
    await service.stop()
  })

  test('that are not stored contain statistics and, for super users, log lines', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env: { ...env, VMHOST_LOG: 'debug' } })
    const root = await service.signIn()
    const user = { username: 'jane', name: 'Jane', email: 'j@example.test', password: rootPassword }
    await service.call('POST', '/api/v1/auth/users', { token: root, body: user })
    const { body } = await service.call('POST', '/api/v1/auth/token', {
      body: { username: 'jane', password: rootPassword },
    })
    const [ours, theirs] = await Promise.all(
      [root, body.token].map(token => read(service, state.path, token, '?event_types=stats,system_logs')),
    )
    await service.call('GET', '/api/health/probe')
    await until(() =>
      expect(ours!.messages).toContainEqual(
        expect.objectContaining({
          event_type: 'system_logs',
          message: 'System Log',
          body: { level: 'debug', message: expect.stringContaining('health/probe'), time: expect.any(String) },
        }),
      ),
    )
    for (const { waitFor } of [ours!, theirs!]) {
      const stats = await waitFor('System Stats')
      expect(stats).toMatchObject({ event_type: 'stats', body: { memory_bytes: expect.any(Number) } })
      expect(stats).not.toHaveProperty('seq')
    }
    expect(theirs!.messages.map(({ message }) => message)).not.toContain('System Log')
    const { events } = (await service.call('GET', '/api/v1/events?types=stats,system_logs', { token: root })).body
    expect(events).toEqual([])
    await service.stop()
  })

  test('stay in the log and not in memory for a reader that stops reading, and other readers do not wait', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env })
    const token = await service.signIn()
    const stopped = await read(service, state.path, token, '?event_types=pdfm')
    const { client_id: slow } = stopped.messages[0]!.body!
    stopped.socket.pause()
    const quick = await read(service, state.path, token, '?event_types=pdfm')
    const updates = 1_000
    let most = 0
    for (let at = 0; at < updates; at += 1) {
      const operations = [{ group: 'description', operation: 'set', value: `${at} ${'x'.repeat(4_000)}` }]
      const { status } = await service.call('PUT', '/api/v1/machines/demo/set', { token, body: { operations } })
      expect(status).toBe(200)
      if (at % 50 !== 49) continue
      const clients = (await service.call('GET', '/api/v1/ws/clients', { token })).body
      most = Math.max(most, clients.find(({ id }: { id: string }) => id === slow).queue_depth)
    }
    const updated = ({ messages }: Reader): readonly EventMessage[] =>
      messages.filter(({ message }) => message === 'VM_UPDATED')
    await until(() => expect(updated(quick)).toHaveLength(updates))
    const bytes = JSON.stringify(quick.messages).length
    expect(bytes).toBeGreaterThan(8e6)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(4e6)
    expect(stopped.messages.length).toBeLessThan(updates / 2)
    stopped.socket.resume()
    // On a slow machine the service has closed a connection by then that answers no pings: its reader goes on by its cursor.
    let hasClosed = false
    void stopped.closed.then(() => (hasClosed = true))
    await until(() => expect(hasClosed || updated(stopped).length === updates).toBe(true))
    const received = [...updated(stopped)]
    if (received.length < updates) {
      const { cursor } = stopped.messages.at(-1)!
      const again = await read(service, state.path, token, `?event_types=pdfm&since=${cursor}`)
      await until(() => expect(updated(again)).toHaveLength(updates - received.length))
      received.push(...updated(again))
    }
    expect(received).toEqual(updated(quick))
    await service.stop()
  })
})

describe.each(mostlyProcess)('events over a WebSocket, served by: %s,', mode => {
  const env = envOf(mode)

  test(`are complete over ${wanted} disconnects and some kills: together they are the log`, async () => {
    using state = newState()
    const settings = { ...env, VMHOST_DEMO: 'off' }
    let service = await startService({ state: state.path, env: settings })
    const token = await service.signIn()
    let disconnects = 0
    let ended = 0
    const follow = async (since: string): Promise<readonly EventMessage[]> => {
      const received: EventMessage[] = []
      let cursor = since
      while (ended === 0 || cursor !== last) {
        const reader = await read(service, state.path, token, `?event_types=auth&since=${cursor}`).catch(
          () => undefined,
        )
        if (!reader) {
          await pause(50)
          continue
        }
        await Promise.race([pause(Math.random() * 60), reader.closed])
        reader.socket.terminate()
        await reader.closed
        disconnects += 1
        for (const message of reader.messages.filter(one => one.seq !== undefined)) {
          received.push(message)
          ;({ cursor } = message)
        }
      }
      return received
    }
    const begin = (await service.call('GET', '/api/v1/events?limit=1000', { token })).body.cursor
    let last = ''
    const readers = Array.from({ length: 10 }, () => follow(begin))
    let made = 0
    const kills = { service: 0, events: 0 }
    while (disconnects < wanted) {
      const [method, path] = made % 2 === 0 ? (['POST', ''] as const) : (['DELETE', '/MINE'] as const)
      const body = method === 'POST' ? { name: 'MINE' } : undefined
      await service.call(method, `/api/v1/auth/claims${path}`, { token, ...(body && { body }) }).catch(() => undefined)
      made += 1
      const due = Math.floor((disconnects * 10) / wanted)
      if (kills.service + kills.events >= due) continue
      const events = due % 3 === 0 ? undefined : service.eventsProcess()
      if (events !== undefined) {
        process.kill(events, 'SIGKILL')
        kills.events += 1
      } else {
        await service.kill()
        service = await startService({ state: state.path, env: settings })
        kills.service += 1
      }
    }
    const all: EventMessage[] = []
    for (let since = begin; ;) {
      const { body } = await service.call('GET', `/api/v1/events?types=auth&limit=1000&since=${since}`, { token })
      all.push(...body.events)
      if (body.cursor === since) break
      since = body.cursor
    }
    last = all.at(-1)!.cursor
    ended = all.length
    for (const received of await Promise.all(readers))
      expect(received.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(kills.service).toBeGreaterThan(2)
    if (mode === 'process') expect(kills.events).toBeGreaterThan(2)
    console.log(
      `${mode}: 10 readers, ${disconnects} disconnects, ${kills.service} kills of the service and ${kills.events} of its events process: each got all ${all.length} events once, in order`,
    )
    await service.stop()
  })
})

describe('the events process', () => {
  test('is restarted when it hangs; meanwhile the service replies', async () => {
    using state = newState()
    const service = await startService({ state: state.path, env: envOf('process') })
    const token = await service.signIn()
    const reader = await read(service, state.path, token)
    const pid = service.eventsProcess()!
    process.kill(pid, 'SIGSTOP')
    expect((await service.call('GET', '/api/v1/ws/clients', { token })).body).toMatchObject([{ is_alive: false }])
    expect(await reader.closed).toBe(1006)
    await until(async () => (await read(service, state.path, token)).socket.terminate())
    expect(service.eventsProcess()).not.toBe(pid)
    await service.stop()
  })

  test('serves a state folder whose path is too long for a socket, and leaves no files', async () => {
    using folder = newState()
    const state = join(folder.path, 'x'.repeat(120))
    const service = await startService({ state, env: { ...envOf('process'), TMPDIR: folder.path } })
    const reader = await read(service, state, await service.signIn())
    await service.stop()
    expect(await reader.closed).toBe(1001)
    expect(readdirSync(folder.path)).toEqual(['x'.repeat(120)])
  })
})

describe.skipIf(withoutQemu)(
  withoutQemu ? 'QEMU is not installed' : 'events of what happens to a machine on QEMU',
  () => {
    test.each(mostlyInline)(
      'a guest that powers off, a killed QEMU and changes during a downtime are published, served by: %s',
      async mode => {
        using state = newState()
        const settings = { ...envOf(mode), VMHOST_DEMO: 'off' }
        let service = await startService({ state: state.path, driver: 'qemu', env: settings })
        const token = await service.signIn()
        const ask = (method: string, path: string, body?: object) =>
          service.call(method, `/api/v1/machines${path}`, { token, ...(body && { body }) })
        const disk = join(state.path, 'attach/boot.img')
        buildBootSectorDisk(disk)
        expect((await ask('POST', '', { name: 'one', memory: 16, disks: [{ path: disk }] })).status).toBe(201)
        const home = (await ask('GET', '/one')).body[0].Home
        const boots = (): readonly string[] =>
          existsSync(join(home, 'serial.log')) ? readFileSync(join(home, 'serial.log'), 'latin1').split('BOOT') : ['']
        const booted = async (): Promise<void> => {
          const before = boots().length
          await ask('PUT', '/one/start')
          await until(() => {
            expect(boots().length).toBeGreaterThan(before)
            expect(boots().at(-1)).toContain('T 0')
          })
        }
        const reader = await read(service, state.path, token, '?event_types=pdfm')
        const states = (messages = reader.messages): readonly string[] =>
          messages.filter(one => one.message === 'VM_STATE_CHANGED').map(one => String(one.body!['current_state']))

        await booted()
        await typeOnSerialLine({ home }, 'q')
        await until(() => expect(states()).toEqual(['starting', 'running', 'stopped']))
        await booted()
        process.kill(Number(readFileSync(join(home, 'qemu.pid'), 'utf8')), 'SIGKILL')
        await until(() => expect(states().slice(3)).toEqual(['starting', 'running', 'stopped']))
        expect(reader.messages.findLast(one => one.message === 'VM_STATE_CHANGED')!.body).toMatchObject({
          previous_state: 'running',
          problem: expect.stringContaining('crashed'),
        })

        await booted()
        await until(() => expect(states().slice(6)).toEqual(['starting', 'running']))
        const { cursor } = reader.messages.at(-1)!
        const pid = Number(readFileSync(join(home, 'qemu.pid'), 'utf8'))
        await service.kill()
        await typeOnSerialLine({ home }, 'q')
        await until(async () => expect(await readCommandLine(pid)).toBeUndefined())
        service = await startService({ state: state.path, driver: 'qemu', env: settings })
        const { events } = (await service.call('GET', `/api/v1/events?types=pdfm&since=${cursor}`, { token })).body
        expect(states(events)).toEqual(['stopped'])
        await service.stop()
      },
    )
  },
)

test('an event stream starts at a cursor and continues', async () => {
  using state = newState()
  const env = envOf('process')
  const service = await startService({ state: state.path, env: { ...env, VMHOST_DEMO: 'off' } })
  const token = await service.signIn()
  const add = (name: string) => service.call('POST', '/api/v1/auth/claims', { token, body: { name } })
  await add('A')
  const { cursor } = (await service.call('GET', '/api/v1/events?types=auth', { token })).body
  await add('B')
  let text = ''
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(
      `${service.url}/api/v1/events/stream?types=auth`,
      {
        ca: readFileSync(join(state.path, 'tls/cert.pem')),
        headers: { authorization: `Bearer ${token}`, 'last-event-id': cursor },
      },
      resolve,
    )
    sent.once('error', reject)
    sent.end()
  })
  expect(response.headers['content-type']).toBe('text/event-stream')
  const ended = new Promise(resolve => response.once('end', resolve))
  response.on('data', (chunk: Buffer) => void (text += chunk.toString()))
  await add('C')
  await until(() => expect(text).toContain('"claim_id":"C"'))
  expect([...text.matchAll(/"claim_id":"(\w)"/g)].map(match => match[1])).toEqual(['B', 'C'])
  expect(text).toMatch(/^id: [0-9a-f]{8}-\d+\ndata: \{/m)
  await service.call('DELETE', '/api/v1/auth/token', { token })
  await ended
  await service.stop()
})
