import * as z from 'zod'
import { StreamQuery } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/events/stream',
  summary: 'Receive events as server-sent events; Last-Event-ID continues an earlier stream',
  access: 'signed-in',
  effect: 'read',
  uses: ['openStream'],
  query: StreamQuery,
  media: 'text/event-stream',
  reply: z.unknown(),
}).handle(({ query, caller, reauthenticate, lastEventId }, { openStream }) =>
  openStream({
    since: query.since ?? lastEventId,
    types: query.types ?? query.event_types,
    caller: caller,
    reauthenticate,
  }),
)
