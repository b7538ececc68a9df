import * as z from 'zod'
import { withNulls } from './nulls.ts'

/** The named JSON Schemas, which the document has under `components`. */
export type Components = Record<string, object>

/** The schema of bytes. OpenAPI 3.1 needs none, but generators of clients skip a body without one. */
export const bytes = { type: 'string', format: 'binary' }

/** Where a schema is used: in a request body, in a reply, or in parameters, which cannot be null. */
type Use = 'body' | 'reply' | 'parameters'

interface Conversion {
  readonly zodSchema: z.core.$ZodTypes
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}

/** The common characters of `\p{C}`: not every tool that reads patterns supports Unicode classes. */
const invisible = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff\ufff9-\ufffb`

const omitClasses = (pattern: string): string =>
  pattern.replaceAll(String.raw`\p{C}`, invisible).replaceAll(String.raw`\P{C}`, `[^${invisible}]`)

/** Whether a schema parses text to a boolean, as queries need it. */
const isFlag = ({ _zod: { def } }: z.core.$ZodTypes): boolean =>
  // zod types the parts of its schemas as the base class of all schemas.
  def.type === 'pipe' && (def.out as z.core.$ZodTypes)._zod.def.type === 'boolean'

/** Matches a character that `String.prototype.trim` (ECMA-262) does not remove. */
const notBlank = String.raw`[^\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]`

/** Whether a schema trims the text and then refuses an empty one. JSON Schema has no trimming. */
const refusesBlanks = (schema: z.core.$ZodTypes): boolean =>
  schema._zod.def.type === 'string' &&
  schema._zod.def.checks?.some(({ _zod: { def } }) => def.check === 'overwrite') === true &&
  !z.safeParse(schema, ' ').success

/**
 * Adds a pattern to those that a schema has. One schema has room for one, and linters refuse an `allOf` of one. zod calls
 * `override` again for a schema that refines another, so a pattern that is there already is not added twice.
 */
const requirePattern = (schema: z.core.JSONSchema.JSONSchema, added: string): void => {
  const own = [schema.pattern, ...(schema.allOf ?? []).map(({ pattern }) => pattern)]
  const patterns = [...new Set([...own, added])].filter(pattern => pattern !== undefined)
  const [first, ...others] = patterns
  delete schema.pattern
  if (first !== undefined && others.length === 0) schema.pattern = first
  else schema.allOf = patterns.map(pattern => ({ pattern }))
}

/**
 * Replaces a list of types by alternatives, in every schema of a parsed JSON Schema. Generators of clients know no list but that of one
 * type and null.
 */
const separateTypes = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !('type' in value)) return value
  const { type, ...schema } = value
  if (!Array.isArray(type) || type.filter(each => each !== 'null').length < 2) return value
  return { ...schema, anyOf: type.map((each: unknown) => ({ type: each })) }
}

/** Makes a schema portable. Reply schemas stay open, because a later version may add members. */
const adjust = (io: 'input' | 'output', { zodSchema, jsonSchema }: Conversion): void => {
  if (io === 'input' && isFlag(zodSchema)) jsonSchema.type = 'boolean'
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  // Generators of clients refuse the default of an object. It says no more than that the member is optional.
  if (typeof jsonSchema.default === 'object') delete jsonSchema.default
  if (jsonSchema.pattern !== undefined) jsonSchema.pattern = omitClasses(jsonSchema.pattern)
  if (io === 'input' && refusesBlanks(zodSchema)) requirePattern(jsonSchema, notBlank)
}

/**
 * A zod schema as JSON Schema 2020-12, which is what OpenAPI 3.1 has. A named schema goes to `components`; one of a
 * request gets a name of its own there, because defaults make its members optional which are required in replies.
 */
export const toJsonSchema = (schema: z.ZodType, use: Use, components: Components): object => {
  const io = use === 'reply' ? 'output' : 'input'
  const text = JSON.stringify(
    z.toJSONSchema(schema, { io, unrepresentable: 'any', override: conversion => adjust(io, conversion) }),
  )
  const suffix = io === 'input' ? 'Input' : ''
  const named = text.replaceAll(/#\/\$defs\/(\w+)/g, (_, name: string) => `#/components/schemas/${name}${suffix}`)
  // What `z.toJSONSchema` makes.
  const {
    $schema: _,
    $defs,
    id,
    ...plain
  } = JSON.parse(named, separateTypes) as { $schema: string; $defs?: object; id?: string }
  const complete = (definition: object): object => (use === 'body' ? withNulls(definition) : definition)
  for (const [name, { id: __, ...definition }] of Object.entries<{ id?: string }>({ ...$defs }))
    components[name + suffix] = complete(definition)
  if (id === undefined) return complete(plain)
  components[id + suffix] = complete(plain)
  return { $ref: `#/components/schemas/${id}${suffix}` }
}
