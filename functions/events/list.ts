import { cursorText } from '#lib/events/cursor.ts'
import { eventTypes } from '#lib/events/event.ts'
import { EventPage, EventQuery, readTypes } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/events',
  summary: 'List events, oldest first, after a cursor',
  access: 'signed-in',
  effect: 'read',
  uses: ['events'],
  query: EventQuery,
  reply: EventPage,
}).handle(({ query, caller }, { events }) => {
  const { types } = readTypes(query.types)
  const wanted = { types: new Set(types.length > 0 ? types : eventTypes), principal: caller! }
  const { at, gap } = events.place(query.since)
  const { messages, next } = events.read(at, wanted, query.limit)
  return { events: [...messages], cursor: cursorText(next), ...(gap && { gap: true as const }) }
})
