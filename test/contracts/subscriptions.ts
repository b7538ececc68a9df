import { describe, expect, test } from 'vitest'
import { connectReader, type EventReader } from '../support/event-reader.ts'
import { until } from '../support/waiting.ts'

/** Where `openSubscriptionHost` serves: an empty one. */
export interface SubscriptionPlace extends AsyncDisposable {
  readonly url: string
  /** Lets what is due from time to time happen. */
  runTimers(): Promise<unknown>
}

/** What the tests do to a host. */
export const createActions = (url: string) => {
  const call = async (method: string, path: string, body?: object, token = 'root') => {
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  return {
    call,
    grant: (id: string, ...claims: readonly string[]) => call('PUT', 'users', { id, claims }),
    publish: (message: string, more: object = {}) => call('POST', 'events', { message, ...more }),
    signOut: (token: string) => call('DELETE', `sessions/${token}`),
    unsubscribe: ({ messages }: EventReader, types: readonly string[], token?: string) =>
      call('POST', 'unsubscribe', { id: messages[0]!.body!['client_id'], types }, token),
  }
}

const cursorOf = ({ messages }: EventReader): string => String(messages[0]!.body!['cursor'])

/** What subscriptions over WebSockets must do, in a process and in a Durable Object. */
export const subscriptionContract = (name: string, open: () => Promise<SubscriptionPlace>): void => {
  describe(`subscriptions: ${name}`, () => {
    test('welcome a client and send the events of its types as they happen', async () => {
      await using place = await open()
      const { publish } = createActions(place.url)
      const reader = await connectReader(place.url, 'root', '?event_types=PDFM,stats,nonsense')
      expect(reader.messages[0]).toMatchObject({
        event_type: 'global',
        message: 'WebSocket connection established subscribed to global by default',
        body: { subscriptions: ['pdfm', 'stats', 'global'], unknown_event_types: ['nonsense'] },
      })
      await publish('first')
      await publish('of another type', { type: 'auth' })
      await publish('second', { type: 'stats' })
      await reader.waitFor('second')
      expect(reader.events()).toEqual(['first', 'second'])
      expect(reader.messages[1]).toMatchObject({ seq: 1, cursor: cursorOf(reader).replace(/-\d+$/, '-1') })
    })

    test('answer messages of a client', async () => {
      await using place = await open()
      const reader = await connectReader(place.url, 'root')
      const answerTo = async (text: string) => {
        const before = reader.messages.length
        reader.socket.send(text)
        return until(() => reader.messages[before] ?? expect.fail('no answer yet'))
      }
      const { client_id: id } = reader.messages[0]!.body!
      expect(await answerTo('{"event_type":"HEALTH","message":"ping","id":"mine"}')).toMatchObject({
        ...{ event_type: 'health', message: 'pong', ref_id: 'mine', client_id: id },
      })
      expect(await answerTo('{"event_type":"health","message":"ping"}')).toMatchObject({
        ref_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      expect(await answerTo('{"event_type":"system","message":"client-id"}')).toMatchObject({
        body: { 'client-id': id },
      })
      expect(await answerTo('not JSON')).toMatchObject({ message: 'error', body: { error: expect.any(String) } })
      expect(await answerTo('{"event_type":"pdfm","id":"x"}')).toMatchObject({
        ...{ ref_id: 'x', body: { error: 'no handlers registered for type pdfm' } },
      })
      expect(await answerTo('{"event_type":"x"}')).toMatchObject({ body: { error: 'invalid message type x' } })
      reader.socket.send('x'.repeat(65 * 1024))
      expect(await reader.closed).toEqual([1009, ''])
    })

    test('continue after a cursor, in order and without a gap', async () => {
      await using place = await open()
      const { publish } = createActions(place.url)
      const first = await connectReader(place.url, 'root', '?event_types=pdfm')
      first.socket.close()
      await first.closed
      await publish('e', { count: 2_000 })
      const reader = await connectReader(place.url, 'root', `?event_types=pdfm&since=${cursorOf(first)}`)
      await publish('e', { count: 500 })
      await until(() => expect(reader.events().length).toBe(2_500))
      expect(reader.messages.slice(1).map(({ seq }) => seq)).toEqual(Array.from({ length: 2_500 }, (_, at) => at + 1))
    })

    test('tell of a gap for a cursor of another log, and begin at the oldest event', async () => {
      await using place = await open()
      const { publish } = createActions(place.url)
      await publish('old')
      const reader = await connectReader(place.url, 'root', '?event_types=pdfm&since=00000000-7')
      await reader.waitFor('old')
      expect(reader.messages[1]).toMatchObject({ message: 'gap', body: { cursor: expect.stringMatching(/-0$/) } })
    })

    test('send nothing that the user may not see, by the rights at the moment', async () => {
      await using place = await open()
      const { publish, grant } = createActions(place.url)
      await grant('jane', 'LIST')
      const jane = await connectReader(place.url, 'jane', '?event_types=pdfm')
      await publish('seen')
      await publish('hidden', { claim: 'SECRET' })
      await jane.waitFor('seen')
      await grant('jane', 'SECRET')
      await until(async () => {
        await publish('seen now', { claim: 'SECRET' })
        expect(jane.events()).toContain('seen now')
      })
      await publish('hidden now')
      await publish('last', { claim: 'SECRET' })
      await jane.waitFor('last')
      expect(new Set(jane.events())).toEqual(new Set(['seen', 'seen now', 'last']))
    })

    test('end with the session, whether events come or not', async () => {
      await using place = await open()
      const { signOut } = createActions(place.url)
      const reader = await connectReader(place.url, 'root')
      const other = await connectReader(place.url, 'root.9999999998')
      await signOut('root')
      expect(await reader.closed).toEqual([1008, 'This token was signed out; sign in again.'])
      expect(other.socket.readyState).toBe(other.socket.OPEN)
      const soon = Math.ceil(Date.now() / 1_000) + 1
      const short = await connectReader(place.url, `root.${soon}`)
      await until(async () => {
        await place.runTimers()
        expect(short.socket.readyState).toBe(short.socket.CLOSED)
      })
      expect(await short.closed).toEqual([1008, 'The token is expired; sign in again.'])
    })

    test('stop sending types that a client does not want any more', async () => {
      await using place = await open()
      const { publish, unsubscribe, grant, call } = createActions(place.url)
      await grant('jane', 'LIST')
      const reader = await connectReader(place.url, 'root', '?event_types=pdfm,auth')
      expect((await unsubscribe(reader, ['pdfm'], 'jane')).status).toBe(403)
      expect((await unsubscribe(reader, ['global'])).status).toBe(400)
      expect((await unsubscribe(reader, ['stats'])).status).toBe(400)
      expect((await unsubscribe(reader, ['nonsense'])).status).toBe(400)
      expect((await call('POST', 'unsubscribe', { id: 'nobody', types: ['pdfm'] })).status).toBe(404)
      expect((await unsubscribe(reader, ['pdfm'])).status).toBe(200)
      await publish('not wanted')
      await publish('wanted', { type: 'auth' })
      await reader.waitFor('wanted')
      expect(reader.events()).toEqual(['wanted'])
    })

    test('list and count their clients, and let each user have a few', async () => {
      await using place = await open()
      const { call, publish, grant } = createActions(place.url)
      const readers = [
        await connectReader(place.url, 'root', '?event_types=pdfm'),
        await connectReader(place.url, 'root'),
        await connectReader(place.url, 'root'),
      ]
      const refused = async (token: string): Promise<void> => {
        const error = (await connectReader(place.url, token).catch((caught: unknown) => caught)) as Error
        expect(error).toMatchObject({ status: 503 })
        expect(JSON.parse(error.message)).toMatchObject({
          code: 503,
          message: expect.stringContaining('subscriptions'),
        })
      }
      await refused('root')
      await grant('jane', 'LIST')
      const janes = [await connectReader(place.url, 'jane'), await connectReader(place.url, 'jane')]
      await refused('jane')
      await publish('one')
      await readers[0]!.waitFor('one')
      const { body: clients } = await call('GET', 'clients')
      expect(clients).toHaveLength(5)
      expect(clients).toContainEqual({
        ...{ id: readers[0]!.messages[0]!.body!['client_id'], user_id: 'root', username: 'root', address: '192.0.2.1' },
        ...{ connected_at: expect.any(String), last_pong_at: expect.any(String) },
        ...{ event_subscriptions: ['pdfm', 'global'], is_alive: true, queue_depth: expect.any(Number) },
      })
      const { body: stats } = await call('GET', 'stats')
      expect(stats).toMatchObject({ total_clients: 5, total_subscriptions: 6, type_stats: { pdfm: 1, global: 5 } })
      expect(stats.messages_sent).toBeGreaterThanOrEqual(1)
      for (const { socket } of [...readers, ...janes]) socket.close()
      await until(async () => expect((await call('GET', 'clients')).body).toEqual([]))
    })
  })
}
