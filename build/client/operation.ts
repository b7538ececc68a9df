/** Prints the operation of an endpoint as the client has it. */
import { toServedPath } from '#lib/calls/paths.ts'
import type { Endpoint, Method, Path, Route } from '#lib/http/endpoint.ts'
import { getSuccessStatus } from '#lib/http/endpoint-statuses.ts'
import { listMethodPaths } from '#lib/http/method-table.ts'
import type { Schema } from '#lib/http/openapi/schema-type.ts'
import { printComment, printMember, printObject, printType } from './schema-type.ts'

/** The parts of an operation of the OpenAPI document that are read here. */
export interface DocumentedOperation {
  readonly summary: string
  readonly description: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required: boolean
    readonly description?: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>

/** Paths of the OpenAPI document. */
export type DocumentedPaths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>

const toCamelCase = (text: string): string => text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The area and the name of a route's operation: `catalogManagers` and `catalogPull`. */
export const nameOperation = ({ id }: Route): readonly [area: string, name: string] => {
  const [area = '', name = ''] = id.split('/').map(toCamelCase)
  return [area, name]
}

const parametersOf = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)

/**
 * The pair that the client uses: a GET that changes something has a PUT beside it, unless it opens a WebSocket; and the longest
 * path names the most.
 */
const choosePair = (endpoint: Endpoint): readonly [Method, Path] => {
  const { effect, media, method } = endpoint
  const pairs = listMethodPaths(endpoint)
  const wanted = effect === 'change' && method === 'GET' && media !== 'websocket' ? 'PUT' : method
  const extending = pairs.filter(([one, path]) => one === wanted && path.startsWith(endpoint.path))
  const longest = extending.toSorted(([, one], [, other]) => other.length - one.length)[0]
  if (!longest) throw new Error(`${endpoint.method} ${endpoint.path} changes something and has no PUT`)
  return longest
}

/** The method and the served path of an operation, such as `PUT /api/v1/machines/{id}/start`. */
const placeOperation = ({ endpoint }: Route): readonly [method: string, path: string] => {
  const [method, path] = choosePair(endpoint)
  const needed = parametersOf(endpoint.path)
  const marked = toServedPath(path).replace(/\{(\w+)\}/g, (whole, name: string) =>
    needed.includes(name) ? whole : `{${name}?}`,
  )
  return [endpoint.media === 'websocket' ? 'SOCKET' : method, marked]
}

const optionsOf = (endpoint: Endpoint, { parameters }: DocumentedOperation): string => {
  const has = (header: string): boolean => parameters.some(({ name }) => name === header)
  return [
    has('Idempotency-Key') ? 'ChangeOptions' : 'CallOptions',
    ...(has('X-Filter') ? ['FilterOptions'] : []),
    ...(has('If-Match') ? ['IfMatchOptions'] : []),
    ...(endpoint.acceptsWait ? ['WaitOptions'] : []),
  ].join(', ')
}

interface Part {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** The params or the query of a request as one object. */
const collectParameters = (
  { parameters }: DocumentedOperation,
  place: 'path' | 'query',
  optional: (name: string) => boolean = () => false,
): readonly Part[] => {
  const found = parameters.filter(parameter => parameter.in === place)
  if (found.length === 0) return []
  const required = found.filter(one => one.required && !optional(one.name)).map(({ name }) => name)
  const properties = Object.fromEntries(
    found.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description !== undefined && { description }) },
    ]),
  )
  const schema = { type: 'object', properties, required }
  return [{ name: place === 'path' ? 'params' : 'query', schema, isRequired: required.length > 0 }]
}

const partsOf = ({ path }: Endpoint, operation: DocumentedOperation): readonly Part[] => {
  const { requestBody } = operation
  const schema = requestBody?.content['application/json']?.schema
  return [
    ...collectParameters(operation, 'path', name => !parametersOf(path).includes(name)),
    ...collectParameters(operation, 'query'),
    ...(requestBody && schema ? [{ name: 'body', schema, isRequired: requestBody.required }] : []),
  ]
}

const replyOf = (endpoint: Endpoint, { responses }: DocumentedOperation): string => {
  const { media, job } = endpoint
  if (media === 'websocket') return 'WebSocket'
  if (media === 'text/plain') return 'string'
  if (media === 'text/event-stream' || media === 'image/png' || media === '*/*') return 'ReadableStream<Uint8Array>'
  if (job?.detached) return 'Job'
  const status = getSuccessStatus(endpoint)
  const schema = responses[String(status)]?.content?.['application/json']?.schema ?? {}
  // A reply with 202 may be the job instead.
  return printType((job && status === 202 && schema.anyOf?.[0]) || schema, 'reply', '    ')
}

/** An operation: the texts of the type of its request and of its signatures, and where it is served. */
export interface PrintedOperation {
  readonly area: string
  readonly name: string
  readonly method: string
  readonly path: string
  readonly request: string
  readonly signatures: string
  /** What of the document it uses. */
  readonly uses: unknown
}

/** Prints the operation of a route. */
export const printOperation = (route: Route, paths: DocumentedPaths): PrintedOperation => {
  const { endpoint } = route
  const [area, name] = nameOperation(route)
  const [method, path] = choosePair(endpoint)
  const operation = paths[toServedPath(path)]![method.toLowerCase()]!
  const parts = partsOf(endpoint, operation)
  const type = `${capitalize(area)}${capitalize(name)}Request`
  const members = parts.map(({ name: part, schema, isRequired }) =>
    printMember(part, schema, { isRequired, side: 'request', indent: '  ' }),
  )
  if (endpoint.bodyMedia) members.push('  readonly body: ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>\n')
  const isNeeded = endpoint.bodyMedia !== undefined || parts.some(({ isRequired }) => isRequired)
  const argument = `request${isNeeded ? '' : '?'}: ${type}`
  const reply = replyOf(endpoint, operation)
  const [servedMethod, servedPath] = placeOperation(route)
  const comment = printComment(`${operation.summary}. ${operation.description} \`${method} ${servedPath}\``, '    ')
  const sign = (given: string, replied: string): string => `${comment}    ${name}(${given}): Promise<${replied}>\n`
  return {
    area,
    name,
    method: servedMethod,
    path: servedPath,
    request: `/** The request of \`api.${area}.${name}\`. */\nexport interface ${type} extends ${optionsOf(endpoint, operation)} {\n${members.join('')}}\n`,
    signatures: [
      ...(endpoint.job && !endpoint.job.detached ? [sign(`request: ${type} & AsJob`, `JobOf<${reply}>`)] : []),
      ...(endpoint.media === 'application/octet-stream'
        ? [sign(`request: ${type} & { query: { content: {} } }`, 'ReadableStream<Uint8Array>')]
        : []),
      sign(argument, reply),
    ].join(''),
    uses: [parts, operation.responses],
  }
}

/** Prints a named schema of the document. */
export const printComponent = (name: string, schema: Schema): string => {
  const side = name.endsWith('Input') ? 'request' : 'reply'
  return `${printComment(schema.description, '')}export interface ${name} ${printObject(schema, side, '')}\n`
}
