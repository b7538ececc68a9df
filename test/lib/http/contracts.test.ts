import { expect, test } from 'vitest'
import { routes } from '#functions/routes.gen.ts'
import type { Contract } from '#lib/http/endpoint.ts'

// The type of an endpoint cannot refuse a field that comes out of a shared object, so a misspelt one would do nothing.
const fields: Readonly<Record<keyof Contract | 'handle', true>> = {
  method: true,
  path: true,
  also: true,
  summary: true,
  description: true,
  access: true,
  effect: true,
  essential: true,
  uses: true,
  params: true,
  query: true,
  body: true,
  reply: true,
  status: true,
  media: true,
  faults: true,
  hasETag: true,
  conditional: true,
  paged: true,
  passThrough: true,
  filter: true,
  secretReply: true,
  job: true,
  acceptsWait: true,
  audited: true,
  tokenInQuery: true,
  oauth: true,
  bodyLimit: true,
  handle: true,
}
const jobFields = new Set(['type', 'operation', 'record', 'always', 'detached', 'repeatable', 'summarize'])

test('every endpoint declares only fields that the steps and the OpenAPI document know', () => {
  const unknown = routes.flatMap(({ id, endpoint }) =>
    [
      ...Object.keys(endpoint).filter(field => !(field in fields)),
      ...Object.keys(endpoint.job ?? {}).filter(field => !jobFields.has(field)),
    ].map(field => `${id}: ${field}`),
  )
  expect(unknown).toEqual([])
})
