import { expect, test } from 'vitest'
import { every } from '#lib/async/every.ts'
import { ServiceError } from '#lib/errors.ts'
import { openEvents } from '#lib/events/events.ts'
import { createHibernatingSubscriptions } from '#lib/events/hibernating/subscriptions.ts'
import { createHub } from '#lib/events/hub.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'

test('a socket of which nothing is known is closed, and does not keep the service from opening', async () => {
  const closed: number[] = []
  const socket = {
    readyState: 1,
    send() {},
    close: (code: number) => void closed.push(code),
    serializeAttachment() {},
    deserializeAttachment: () => ({ id: 'one' }),
  }
  const events = await openEvents(await createMemoryStore(), { every })
  const refuse = async () => {
    throw new ServiceError('unauthenticated', 'The token is expired; sign in again.')
  }
  const subscriptions = createHibernatingSubscriptions({
    events,
    hub: createHub(events, every),
    sockets: { acceptWebSocket() {}, getWebSockets: () => [socket] },
    sessions: { refer: refuse, principal: refuse },
    every,
    limits: { user: 10, all: 10 },
  })
  expect(closed).toEqual([1012])
  subscriptions.onMessage(socket, '{}')
  expect(subscriptions.stats().total_clients).toBe(0)
  events.close()
})
