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
  if (schema.def.catchall !== undefined && !(schema.def.catchall instanceof z.ZodNever)) return true
  return Object.entries(schema.shape).some(([name, member]) => {
    const key = name.toLowerCase()
    return key === path || (path.startsWith(`${key}.`) && canHaveField(member, path.slice(key.length + 1)))
  })
}

/** Makes the check whether the items of a list reply can have the member at a path in lower case. */
export const createFieldCheck =
  (reply: z.ZodType): ((path: string) => boolean) =>
  path => {
    const list = unwrapSchema(reply)
    return !(list instanceof z.ZodArray) || canHaveField(list.def.element, path)
  }
