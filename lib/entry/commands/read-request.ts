import type * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'

/**
 * Parses a request as the service will. Throws `invalid` with all faults, which name the options of the command line instead of the
 * fields.
 * @param flags the option or argument of each field
 */
export const readRequest = <T>(schema: z.ZodType<T>, body: object, flags: Readonly<Record<string, string>>): T => {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => {
    const field = String(path[0])
    return `${flags[field] ?? field} ${message}`
  })
  throw new ServiceError('invalid', `${faults.join('; ')}.`)
}
