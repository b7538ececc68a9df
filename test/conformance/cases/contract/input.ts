import * as z from 'zod'
import type { Endpoint } from '#lib/http/endpoint.ts'
import type { Case } from '../../case.ts'
import { firstPlaces, type Place, places } from './places.ts'

const defaultBodyLimit = 64 * 1024

/** Endpoints whose handlers refuse a body that says nothing, beyond the schema. */
const refusesNothing: ReadonlySet<string> = new Set(['catalog/describe'])

/** Gives the status of a request with this body, by the contract alone; undefined when the body may be good. */
const expectStatus = ({ body, params }: Endpoint, id: string, value: unknown): number | undefined => {
  if (!body) return undefined
  if (!body.safeParse(value).success || refusesNothing.has(id)) return 400
  return params ? 404 : undefined
}

/** Bodies that hardly any endpoint takes: the text that is sent, the value that it means, and its type. */
const bodies: readonly (readonly [name: string, text: string, value: unknown, type?: string])[] = [
  ['an empty body', '', undefined],
  ['a list in place of an object', '[]', []],
  ['an unknown member', '{"nonsense_member":7}', { nonsense_member: 7 }],
  ['members of wrong types', '{"name":7,"catalog_id":[],"connection":{}}', { name: 7, catalog_id: [], connection: {} }],
  ['a form', 'nonsense_member=7', { nonsense_member: '7' }, 'application/x-www-form-urlencoded'],
]

const withBody = firstPlaces.filter(({ endpoint }) => endpoint.body)

const wrongBodies = withBody.flatMap(({ id, endpoint, method, path, pattern }) =>
  bodies.flatMap(([name, text, value, type = 'application/json']): Case[] => {
    const status = expectStatus(endpoint, id, value)
    if (status === undefined) return []
    return [
      { name: `${method} ${pattern} with ${name}`, request: [method, path, text, { 'content-type': type }], status },
    ]
  }),
)

const brokenBodies = withBody.map(({ method, path, pattern }): Case => ({
  name: `${method} ${pattern} with a body that is not JSON`,
  request: [method, path, '{"name":'],
  status: 400,
  reply: { code: 400 },
}))

// Of a much larger body the client still sends when the refusal comes and the connection ends, so it may not see the refusal.
const largeBodies = withBody
  .filter(({ endpoint: { bodyLimit } }) => bodyLimit === undefined)
  .map(({ method, path, pattern }): Case => ({
    name: `${method} ${pattern} with a body that is too large`,
    request: [method, path, `{"name":"${'x'.repeat(defaultBodyLimit)}"}`],
    status: 413,
    reply: { code: 413 },
  }))

// A request for a WebSocket is judged as one before its handler looks for anything.
const withParams = places.filter(
  ({ endpoint: { params, query, body, media } }) =>
    params && !body && media !== 'websocket' && (!query || query.safeParse({}).success),
)

const absentThings = withParams.map(({ method, path, pattern }): Case => ({
  name: `${method} ${pattern} of something that there is not`,
  request: [method, path],
  status: 404,
  reply: { code: 404 },
}))

interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>
}

const wrongQueries = firstPlaces.flatMap(({ endpoint: { query, body, effect }, method, path, pattern }): Case[] => {
  if (!query || (body && effect === 'change')) return []
  // zod types the document of a schema without its members.
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }) as Shape
  return Object.keys(properties).flatMap(name => {
    const wrong = ['nonsense !', '-1', '99999999'].find(value => !query.safeParse({ [name]: value }).success)
    if (wrong === undefined) return []
    const text = `${path}?${new URLSearchParams({ [name]: wrong })}`
    return [{ name: `${method} ${pattern} with a wrong ${name}`, request: [method, text] as const, status: 400 }]
  })
})

const filtered = ({ endpoint }: Place): boolean => endpoint.filter !== undefined

const wrongFilters = firstPlaces.filter(filtered).flatMap(({ method, path, pattern }): Case[] => [
  {
    name: `${method} ${pattern} with a filter that is none`,
    request: [method, path, undefined, { 'x-filter': '==' }],
    status: 400,
  },
  {
    name: `${method} ${pattern} with a filter whose pattern is none`,
    request: [method, path, undefined, { 'x-filter': 'name=(((' }],
    status: 400,
  },
])

/** What is wrong with requests, for each endpoint. */
export const inputCases: readonly Case[] = [
  ...wrongBodies,
  ...brokenBodies,
  ...largeBodies,
  ...absentThings,
  ...wrongQueries,
  ...wrongFilters,
]
