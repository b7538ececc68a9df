import { expect, test } from 'vitest'
import type { JobKind } from '#lib/calls/accepted-job.ts'
import type { Endpoint } from '#lib/http/endpoint.ts'
import { routes } from '#functions/routes.gen.ts'

const endpointMembers: Readonly<Record<keyof Endpoint, true>> = {
  method: true,
  path: true,
  also: true,
  summary: true,
  description: true,
  access: true,
  effect: true,
  essential: true,
  routine: true,
  admit: true,
  uses: true,
  params: true,
  query: true,
  body: true,
  resumable: true,
  reply: true,
  status: true,
  media: true,
  textFor: true,
  faults: true,
  hasETag: true,
  conditional: true,
  paged: true,
  passThrough: true,
  filter: true,
  secretReply: true,
  job: true,
  acceptsWait: true,
  waits: true,
  audited: true,
  tokenInQuery: true,
  oauth: true,
  bodyMedia: true,
  bodyLimit: true,
  handle: true,
}
const jobMembers: Readonly<Record<keyof JobKind, true>> = {
  type: true,
  operation: true,
  record: true,
  always: true,
  detached: true,
  repeatable: true,
  summarize: true,
}

// The compiler does not check members that an endpoint takes over from a shared contract by spreading it.
test('every member of an endpoint has a meaning', () => {
  const unknownMembers = routes.flatMap(({ id, endpoint }) =>
    [
      ...Object.keys(endpoint).filter(member => !(member in endpointMembers)),
      ...Object.keys(endpoint.job ?? {}).filter(member => !(member in jobMembers)),
    ].map(member => `${id}: ${member}`),
  )
  expect(unknownMembers).toEqual([])
})
