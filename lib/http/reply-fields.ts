import * as z from 'zod'

/** The schema without its optional, nullable, default, lazy and pipe wrappers. */
const unwrapSchema = (schema: z.core.$ZodType): z.core.$ZodType => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapSchema(schema.def.innerType)
  if (schema instanceof z.ZodLazy) return unwrapSchema(schema.def.getter())
  return schema instanceof z.ZodPipe ? unwrapSchema(schema.def.out) : schema
}

/**
 * Whether values of a schema can have the member at a path. The path is in lower case; dots lead into nested objects, and a
 * name may contain dots itself. A schema with open members can have any.
 */
const canHaveField = (given: z.core.$ZodType, path: string): boolean => {
  const schema = unwrapSchema(given)
  if (schema instanceof z.ZodUnion) return schema.def.options.some(option => canHaveField(option, path))
  if (!(schema instanceof z.ZodObject))
    return schema instanceof z.ZodRecord || schema instanceof z.ZodUnknown || schema instanceof z.ZodAny
  const members = Object.entries(schema.shape).map(([name, member]) => [name.toLowerCase(), member] as const)
  const onPath = members.filter(([key]) => key === path || path.startsWith(`${key}.`))
  // Only a member that the schema does not name can be one of the open ones.
  if (onPath.length === 0) return schema.def.catchall !== undefined && !(schema.def.catchall instanceof z.ZodNever)
  return onPath.some(([key, member]) => key === path || canHaveField(member, path.slice(key.length + 1)))
}

/** Makes the check whether the items of a list reply can have the member at a path in lower case. */
export const createFieldCheck =
  (reply: z.ZodType): ((path: string) => boolean) =>
  path => {
    const list = unwrapSchema(reply)
    return !(list instanceof z.ZodArray) || canHaveField(list.def.element, path)
  }
