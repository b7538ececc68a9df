import { type Description, resolveSchema, type Schema } from './description.ts'

const joinTypes = (types: readonly string[]): string => [...new Set(types)].join(' or ')

/** The type of a schema in words, such as `array of Machine` or `string or null`. */
export const formatType = (schema: Schema, description: Description): string => {
  const { type, anyOf, items, additionalProperties } = schema
  const { name } = resolveSchema(schema, description)
  if (name !== undefined) return name.replace(/Input$/, '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (anyOf) return joinTypes(anyOf.map(option => formatType(option, description)))
  const types = typeof type === 'string' ? [type] : (type ?? [])
  if (types.length === 0) return 'any'
  return joinTypes(
    types.map(one => {
      if (one === 'array') return items ? `array of ${formatType(items, description)}` : 'array'
      if (one === 'object' && !schema.properties && typeof additionalProperties === 'object')
        return `object of ${formatType(additionalProperties, description)}`
      return one === 'string' && schema.format === 'binary' ? 'bytes' : one
    }),
  )
}

/** zod writes these where a schema has no limit of its own. */
const isSafeLimit = (value: number): boolean => Math.abs(value) === Number.MAX_SAFE_INTEGER

const formatRange = (low: number | undefined, high: number | undefined, unit = ''): readonly string[] => {
  const [from, to] = [low, high].map(limit => (limit === undefined || isSafeLimit(limit) ? undefined : limit))
  if (from !== undefined && to !== undefined) return [from === to ? `${from}${unit}` : `${from} to ${to}${unit}`]
  if (from !== undefined) return [`at least ${from}${unit}`]
  return to === undefined ? [] : [`at most ${to}${unit}`]
}

/** What a value has to fulfil beyond its type, each as a short text. */
export const listLimits = (schema: Schema): readonly string[] => [
  ...(schema.enum ? [`one of ${schema.enum.map(value => JSON.stringify(value)).join(', ')}`] : []),
  ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ...(schema.format === undefined || schema.format === 'binary' ? [] : [`format ${schema.format}`]),
  ...formatRange(schema.minimum, schema.maximum),
  ...(schema.exclusiveMinimum === undefined ? [] : [`more than ${schema.exclusiveMinimum}`]),
  ...formatRange(schema.minLength, schema.maxLength, ' characters'),
  ...formatRange(schema.minItems, schema.maxItems, ' items'),
  ...[schema, ...(schema.allOf ?? [])].flatMap(({ pattern }) => (pattern === undefined ? [] : [`matches ${pattern}`])),
]

/** A member of an object, or the items of an array, under the name that a reader sees. */
export interface Member {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** The members that a schema has under it: of an object, of the objects of an array, or of each of several options. */
export const listMembers = (schema: Schema, description: Description): readonly Member[] => {
  const { schema: resolved } = resolveSchema(schema, description)
  const { properties, required = [], items, additionalProperties, anyOf } = resolved
  const members = Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    isRequired: required.includes(name),
  }))
  if (items) return listMembers(items, description)
  if (anyOf) return anyOf.flatMap(option => listMembers(option, description))
  if (typeof additionalProperties !== 'object') return members
  const hasMembers = listMembers(additionalProperties, description).length > 0 || members.length > 0
  return hasMembers
    ? [...members, { name: 'any other name', schema: additionalProperties, isRequired: false }]
    : members
}
