import { resolve } from 'node:path'
import * as z from 'zod'

/** A list of texts: separated by commas, or an array in the configuration file. */
export const listSchema = z.preprocess(
  value =>
    typeof value === 'string'
      ? value
          .split(',')
          .map(part => part.trim())
          .filter(Boolean)
      : value,
  z.array(z.string()),
)

/** The address that the service listens on. */
export const ListenAddress = z
  .string()
  .refine(text => URL.canParse(text), 'must be an address like https://127.0.0.1:8443')
  .transform(text => new URL(text))
  .refine(({ protocol }) => /^https?:$/.test(protocol), 'must begin with https:// or http://')
  .refine(({ pathname, search }) => pathname === '/' && search === '', 'must have no path')

/** Creates the schema of a whole number in a range. On the command line and in the environment the number is a text. */
export const createNumberSchema = (min: number, max: number, unit = '') => {
  const message = `must be a whole number${unit && ` of ${unit}`} from ${min} to ${max}`
  return z.preprocess(
    value => (typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value),
    z.int(message).min(min, message).max(max, message),
  )
}

/** A path; a relative one starts at the working folder. */
export const AbsolutePath = z
  .string()
  .min(1)
  .transform(path => resolve(path))
