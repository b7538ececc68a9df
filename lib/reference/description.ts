/** The parts of the OpenAPI document that the pages of the reference read. */

export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly $ref?: string
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Media {
  readonly schema?: Schema
  readonly example?: unknown
}

export type Content = Readonly<Record<string, Media>>

export interface Reply {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Content
}

interface DescribedOperation {
  readonly operationId: string
  readonly tags: readonly [area: string]
  readonly summary: string
  readonly description: string
  readonly security: readonly object[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Reply | { readonly $ref: string }>>
}

export interface Description {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Reply>>
    readonly headers: Readonly<Record<string, { readonly description: string }>>
  }
}

/** An operation of the document, with the method and the path that lead to it. */
export interface Operation extends DescribedOperation {
  readonly method: string
  readonly path: string
}

/** The operations of the document, area by area in the order of the areas. */
export const listOperations = ({ paths, tags }: Description): readonly Operation[] => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
  return tags.flatMap(({ name }) => operations.filter(({ tags: [area] }) => area === name))
}

/** The operations that have every word of the text, in any case, in their id, method, path, summary or description. */
export const filterOperations = (operations: readonly Operation[], text: string): readonly Operation[] => {
  const words = text.toLowerCase().split(/\s+/)
  return operations.filter(({ operationId, method, path, summary, description }) => {
    const searched = [operationId, method, path, summary, description].join(' ').toLowerCase()
    return words.every(word => searched.includes(word))
  })
}

const lastPart = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** The replies of an operation by their status, with references resolved. */
export const listReplies = (
  { responses }: Operation,
  { components }: Description,
): readonly (readonly [status: string, reply: Reply])[] =>
  Object.entries(responses).map(([status, reply]) => [
    status,
    '$ref' in reply ? (components.responses[lastPart(reply.$ref)] ?? { description: reply.$ref }) : reply,
  ])

/** The schema that a reference names, with that name; any other schema as it is. */
export const resolveSchema = (
  schema: Schema,
  { components }: Description,
): { readonly name?: string; readonly schema: Schema } => {
  if (schema.$ref === undefined) return { schema }
  const name = lastPart(schema.$ref)
  return {
    name,
    schema: { ...components.schemas[name], ...(schema.description && { description: schema.description }) },
  }
}

/** True for an operation that answers with a WebSocket, unless its query asks for something else. */
export const isWebSocket = ({ responses }: Operation): boolean => '101' in responses
