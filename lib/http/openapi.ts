import * as z from 'zod'
import type { Endpoint, Route } from './endpoint.ts'
import { servedPath } from './paths.ts'

/** The OpenAPI 3.1 description of the routes that are served. */
export interface Document {
  document(): object
}

const serviceError = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status' },
    message: { type: 'string', description: 'What happened, why, and what to do' },
    stack: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          code: { type: 'integer' },
          error: { type: 'string' },
          description: { type: 'string' },
          path: { type: 'string' },
        },
      },
    },
    error: { type: 'string', description: 'OAuth-style type, with 401, 403 and 429 and refused sign-ins' },
    error_description: { type: 'string' },
  },
}

const errorReference = { $ref: '#/components/responses/Error' }

/** A zod schema as JSON Schema 2020-12, which is what OpenAPI 3.1 has; named ones go to `components`. */
const jsonSchema = (schema: z.ZodType, io: 'input' | 'output', components: Record<string, unknown>): object => {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  const {
    $schema: _,
    $defs,
    ...plain
  } = JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/')) as {
    $schema: string
    $defs?: object
  }
  for (const [name, definition] of Object.entries($defs ?? {})) components[name] = definition
  return plain
}

const parametersOf = (schema: z.ZodType | undefined, place: 'path' | 'query', components: Record<string, unknown>) => {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input', components) as {
    properties?: Record<string, { description?: string }>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...member }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description && { description }),
    schema: member,
  }))
}

const filterParameter = {
  name: 'X-Filter',
  in: 'header',
  required: false,
  description: 'PROPERTY=PATTERN or PROPERTY=PATTERN,i: only items whose property matches the regular expression (RE2)',
  schema: { type: 'string' },
}

const onceParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key has one effect, and gets the same answer for a day',
  schema: { type: 'string' },
}

const preferParameter = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description: 'respond-async: do not wait for the end; the answer is 202 with a job, at Location',
  schema: { type: 'string' },
}

const accessText = ({ access }: Endpoint): string => {
  if (access === 'public') return 'Open to everybody.'
  if (access === 'signed-in') return 'For every signed-in caller.'
  const parts = [
    ...(access.roles ?? []).map(role => `role ${role}`),
    ...(access.claims ?? []).map(claim => `claim ${claim}`),
    ...(access.anyClaim ? [`one of the claims ${access.anyClaim.join(', ')}`] : []),
  ]
  return `Needs ${parts.join(' and ')}.`
}

const operationOf = ({ id, endpoint }: Route, pair: string, components: Record<string, unknown>): object => ({
  // A handler that is reached in two ways is two operations here, and operation ids are unique.
  operationId: pair === `${endpoint.method} ${endpoint.path}` ? id : `${id} (${pair})`,
  tags: [id.split('/')[0]],
  summary: endpoint.summary,
  description: accessText(endpoint),
  security: endpoint.access === 'public' ? [] : [{ bearer: [] }, { apiKey: [] }],
  parameters: [
    ...parametersOf(endpoint.params, 'path', components),
    ...parametersOf(endpoint.query, 'query', components),
    ...(endpoint.filter ? [filterParameter] : []),
    ...(endpoint.effect === 'change' && endpoint.access !== 'public' ? [onceParameter] : []),
    ...(endpoint.job ? [preferParameter] : []),
  ],
  ...(endpoint.body && {
    requestBody: {
      required: !endpoint.body.safeParse(undefined).success,
      content: { 'application/json': { schema: jsonSchema(endpoint.body, 'input', components) } },
    },
  }),
  responses: {
    [endpoint.status ?? 200]: {
      description: 'Done',
      content: { 'application/json': { schema: jsonSchema(endpoint.reply, 'output', components) } },
    },
    ...(endpoint.job && {
      202: {
        description: 'Begun as a job, for Prefer: respond-async',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Job' } } },
      },
    }),
    '4XX': errorReference,
    '5XX': errorReference,
  },
})

/** Describes the routes. Built on the first call, then kept. */
export const createOpenApi = (routes: readonly Route[], version: string): Document => {
  const build = (): object => {
    const schemas: Record<string, unknown> = { Error: serviceError }
    const paths: Record<string, Record<string, object>> = {}
    for (const route of routes) {
      const { method, path, also = [] } = route.endpoint
      for (const pair of [`${method} ${path}`, ...also]) {
        const [verb = '', at = ''] = pair.split(' ')
        const methods = (paths[servedPath(at)] ??= {})
        methods[verb.toLowerCase()] = operationOf(route, pair, schemas)
      }
    }
    return {
      openapi: '3.1.0',
      info: { title: 'vmhost', version, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/' }],
      paths,
      components: {
        schemas,
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'base64 of KEY:SECRET' },
        },
        responses: {
          Error: {
            description: 'Refused or failed',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        },
      },
    }
  }
  let built: object | undefined
  return { document: () => (built ??= build()) }
}
