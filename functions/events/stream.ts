import * as z from 'zod'
import { StreamQuery } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/events/stream',
  summary: 'Follow events as server-sent events; Last-Event-ID goes on where a stream ended',
  access: 'signed-in',
  effect: 'read',
  uses: ['openStream'],
  query: StreamQuery,
  reply: z.unknown(),
}).handle(({ query, caller, again, lastEventId }, { openStream }) =>
  openStream({ since: query.since ?? lastEventId(), types: query.types ?? query.event_types, caller: caller!, again }),
)
