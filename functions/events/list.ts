import { formatCursor } from '#lib/events/cursor.ts'
import { eventTypes } from '#lib/events/event.ts'
import { EventPage, EventQuery, parseEventTypes } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/events',
  summary: 'List the events after a cursor, oldest first',
  access: 'signed-in',
  effect: 'read',
  uses: ['events'],
  query: EventQuery,
  reply: EventPage,
}).handle(({ query, caller }, { events }) => {
  const { types } = parseEventTypes(query.types)
  const selection = { types: new Set(types.length > 0 ? types : eventTypes), principal: caller }
  const { cursor, gap } = events.resolveCursor(query.since)
  const { messages, next } = events.read(cursor, selection, query.limit)
  return { events: [...messages], cursor: formatCursor(next), ...(gap && { gap: true as const }) }
})
