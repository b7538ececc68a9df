import * as z from 'zod'

/** What is wrong with a value, and where in it. */
export interface Mistake {
  readonly path: readonly (string | number)[]
  /** Tells nothing of the value. */
  readonly message: string
}

interface Options {
  /** Whether members may be missing. */
  readonly mayLack: boolean
}

const within = (key: string | number, mistake: Mistake | undefined): Mistake | undefined =>
  mistake && { ...mistake, path: [key, ...mistake.path] }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Finds the first mistake of a value that another program has sent, and goes no further: the library would gather all of them, which
 * fill the memory when there are millions. Members that the schema does not have are let pass, as are lists of any length.
 */
export const findMistake = (schema: z.ZodType, value: unknown, options: Options): Mistake | undefined => {
  if (schema instanceof z.ZodOptional && value === undefined) return undefined
  // The class does not say which schema is inside; every schema of this program is one of its classes.
  if (schema instanceof z.ZodOptional) return findMistake(schema.unwrap() as z.ZodType, value, options)
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const mistake = within(index, findMistake(schema.element as z.ZodType, item, options))
      if (mistake) return mistake
    }
    return undefined
  }
  if (schema instanceof z.ZodObject && isObject(value)) {
    for (const [name, member] of Object.entries<z.ZodType>(schema.shape)) {
      const isMissing = !Object.hasOwn(value, name)
      if (isMissing && options.mayLack) continue
      const mistake = within(name, findMistake(member, isMissing ? undefined : value[name], options))
      if (mistake) return mistake
    }
    return undefined
  }
  if (schema instanceof z.ZodRecord && isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const mistake = within(name, findMistake(schema.valueType as z.ZodType, member, options))
      if (mistake) return mistake
    }
    return undefined
  }
  const { error } = schema.safeParse(value)
  const [issue] = error?.issues ?? []
  return issue && { path: issue.path.map(String), message: issue.message }
}
