import type * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'

/**
 * A request as the service will understand it. What that would refuse is refused here, in the words of the command line.
 * @param flags says which option or argument a field comes from
 * Throws `invalid`, with all that is wrong.
 */
export const readRequest = <T>(schema: z.ZodType<T>, body: object, flags: Readonly<Record<string, string>>): T => {
  const read = schema.safeParse(body)
  if (read.success) return read.data
  const wrong = read.error.issues.map(({ path, message }) => {
    const field = String(path[0])
    return `${flags[field] ?? field} ${message}`
  })
  throw new ServiceError('invalid', `${wrong.join('; ')}.`)
}
