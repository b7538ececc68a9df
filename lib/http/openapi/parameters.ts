import type * as z from 'zod'
import type { Endpoint, Path } from '../endpoint.ts'
import { type Components, toJsonSchema } from './json-schema.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: object
}

const listMembers = (schema: z.ZodType, components: Components) => {
  // The JSON Schema of a zod object.
  const { properties = {}, required = [] } = toJsonSchema(schema, 'parameters', components) as {
    properties?: Record<string, { description?: string }>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...member }]) => ({
    name,
    required: required.includes(name),
    ...(description && { description }),
    schema: member,
  }))
}

const describeHeader = (name: string, description: string, schema: object): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
})

const filter = describeHeader(
  'X-Filter',
  'PROPERTY=PATTERN or PROPERTY=PATTERN,i (any case): only items whose property matches the regular expression of RE2. ' +
    'The name may be a path with dots; the whole may have 512 characters and one equals sign.',
  { maxLength: 512, pattern: '^([^=]*[^=\\s][^=]*=[^=,]+(,\\s*i\\s*)?)?$', examples: ['name=^build-'] },
)

const idempotencyKey = describeHeader(
  'Idempotency-Key',
  'The same key has one effect, and gets the same answer for 24 hours: 1 to 255 visible characters of ASCII. ' +
    'A key that came with another request is refused (409).',
  { minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
)

const prefer = describeHeader(
  'Prefer',
  'respond-async (RFC 7240): the service does not wait for the end; the answer is 202 with a job, and Location is its path.',
  { examples: ['respond-async'] },
)

const preferWait = describeHeader(
  'Prefer',
  'wait=SECONDS (RFC 7240), at most 300: when another operation of the machine excludes this one, the call waits for it for so ' +
    'long instead of failing with 409 at once. respond-async: the answer is 202 with a job, and Location is its path; with ' +
    'both, the answer is the result when it comes in time.',
  { examples: ['wait=60', 'respond-async'] },
)

const ifMatch = describeHeader(
  'If-Match',
  'The ETag that the caller has seen: the call fails with 412 and changes nothing when the current one differs. `*` or no header matches any.',
  {},
)

const ifNoneMatch = describeHeader(
  'If-None-Match',
  'The ETag that the caller has: the answer is 304 without a body when it is still the current one.',
  {},
)

const range = describeHeader('Range', 'One range of the bytes, as bytes=0-1023 (RFC 9110, 14).', {
  examples: ['bytes=0-1023'],
})

const contentRange = {
  ...describeHeader(
    'Content-Range',
    'Which part of the file the body is: bytes FIRST-LAST/TOTAL, where TOTAL may be *.',
    {
      pattern: '^bytes \\d+-\\d+/(\\d+|\\*)$',
      examples: ['bytes 0-1048575/*'],
    },
  ),
  required: true,
}

/** The path, query and header parameters of an endpoint at one of its paths. */
export const describeParameters = (endpoint: Endpoint, path: Path, components: Components): readonly Parameter[] => {
  const { params, access, effect, job, media, body, bodyMedia } = endpoint
  const query = endpoint.passThrough?.query ?? endpoint.query
  return [
    ...(params ? listMembers(params, components) : [])
      .filter(({ name }) => path.includes(`{${name}}`))
      .map(member => ({ ...member, in: 'path' as const, required: true })),
    ...(query ? listMembers(query, components) : []).map(member => ({ ...member, in: 'query' as const })),
    ...(endpoint.filter ? [filter] : []),
    ...(bodyMedia && body ? [contentRange] : []),
    // A WebSocket cannot be repeated, and the service does not keep bytes for a repetition.
    ...(effect === 'change' && access !== 'public' && !bodyMedia && media !== 'websocket' ? [idempotencyKey] : []),
    ...(endpoint.acceptsWait ? [preferWait] : job && !job.detached ? [prefer] : []),
    ...(endpoint.conditional ? [ifMatch] : []),
    ...(endpoint.hasETag && endpoint.method === 'GET' ? [ifNoneMatch] : []),
    ...(media === 'application/octet-stream' ? [range] : []),
  ]
}
