import { resolve } from 'node:path'
import * as z from 'zod'

/** Several values: separated by commas in a text, or an array in the file. */
export const list = z.preprocess(
  value =>
    typeof value === 'string'
      ? value
          .split(',')
          .map(part => part.trim())
          .filter(Boolean)
      : value,
  z.array(z.string()),
)

/** The address to serve on. */
export const ListenAddress = z
  .string()
  .refine(text => URL.canParse(text), 'must be an address like https://127.0.0.1:8443')
  .transform(text => new URL(text))
  .refine(({ protocol }) => /^https?:$/.test(protocol), 'must begin with https:// or http://')
  .refine(({ pathname, search }) => pathname === '/' && search === '', 'must have no path')

/** A whole number from `least` to `most`. On the command line and in the environment it is a text. */
export const wholeNumber = (least: number, most: number, unit = '') => {
  const wrong = `must be a whole number${unit && ` of ${unit}`} from ${least} to ${most}`
  return z.preprocess(
    value => (typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value),
    z.int(wrong).min(least, wrong).max(most, wrong),
  )
}

/** A path, made absolute from the working folder. */
export const absolutePath = z
  .string()
  .min(1)
  .transform(path => resolve(path))
