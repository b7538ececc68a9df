import { expect, test } from 'vitest'
import { connectReader } from '../support/event-reader.ts'
import { outlastIdle } from '../support/silence.ts'
import { until } from '../support/waiting.ts'
import { startEdge } from '../support/workerd/edge.ts'

test('the control sleeps beneath its WebSockets, wakes for an event and loses none', async () => {
  await using edge = await startEdge()
  const token = await edge.signIn()
  const jane = { username: 'jane', name: 'Jane', email: 'jane@example.test', password: 'Another-Horse-7-Battery' }
  expect(await edge.ask('POST', '/v1/auth/users', { token, body: jane })).toMatchObject({ status: 201 })
  const jwt = await edge.signIn(jane)
  const sockets = `${edge.url}/api/v1/ws`
  const reader = await connectReader(sockets, token, '?event_types=auth')
  const other = await connectReader(sockets, jwt, '?event_types=auth')
  const addRole = (name: string) => edge.ask('POST', '/v1/auth/roles', { token, body: { name } })
  const startTime = async (): Promise<string> => (await edge.ask('GET', '/v1/ws/stats', { token })).body.start_time
  await addRole('BEFORE')
  await reader.waitFor('ROLE_ADDED')
  for (const name of ['FIRST', 'SECOND']) {
    const before = await startTime()
    await until(async () => {
      // workerd evicts an object after ten seconds without a call; a look is a call.
      await outlastIdle(11_000)
      expect(await startTime()).not.toBe(before)
    })
    await addRole(name)
  }
  await until(() => expect(reader.events().filter(message => message === 'ROLE_ADDED')).toHaveLength(3))
  const numbers = reader.messages.flatMap(({ seq }) => seq ?? [])
  expect(numbers).toEqual(numbers.map((_, at) => numbers[0]! + at))
  expect((await edge.ask('GET', '/v1/ws/clients', { token })).body).toMatchObject([
    { username: 'root', is_alive: true },
    { username: 'jane', is_alive: true },
  ])
  await edge.ask('DELETE', '/v1/auth/token', { token: jwt })
  expect(await other.closed).toEqual([1008, 'This token was signed out; sign in again.'])
  expect(reader.socket.readyState).toBe(reader.socket.OPEN)
})
