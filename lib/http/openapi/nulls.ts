import type { Schema } from './schema-type.ts'

const nullSchema = { type: 'null' }

/** The schema with null allowed. */
const allowNull = (schema: Schema): Schema => {
  const { type, anyOf, description, ...rest } = schema
  if (anyOf) return anyOf.some(option => option.type === 'null') ? schema : { ...schema, anyOf: [...anyOf, nullSchema] }
  if (rest.$ref !== undefined || rest.const !== undefined || rest.enum)
    return {
      ...(description !== undefined && { description }),
      anyOf: [{ ...rest, ...(type && { type }) }, nullSchema],
    }
  return typeof type === 'string' && type !== 'null' ? { ...schema, type: [type, 'null'] } : schema
}

/**
 * The schema of a body in which every optional member may be null: bodies are read so that null means absent.
 */
export const withNulls = (schema: Schema): Schema => {
  const { properties, required = [], items, additionalProperties, anyOf } = schema
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const inner = withNulls(member)
    return [name, required.includes(name) ? inner : allowNull(inner)] as const
  })
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(members) }),
    ...(items && { items: withNulls(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: allowNull(withNulls(additionalProperties)),
    }),
    ...(anyOf && { anyOf: anyOf.map(withNulls) }),
  }
}
