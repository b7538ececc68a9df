import { ServiceError } from '#lib/errors.ts'
import { compilePattern } from '#lib/calls/linear-pattern.ts'

/** Whether a filter matches an item of a list. */
export type Filter = (item: unknown) => boolean

/** A filter with the header text that it was parsed from. */
export interface ParsedFilter {
  readonly text: string
  readonly matches: Filter
}

const usage = 'Write X-Filter as PROPERTY=PATTERN or PROPERTY=PATTERN,i, with a regular expression of RE2'
const maxLength = 512
/** Limit for instructions times characters of one filter: about half a second at worst. */
const maxSteps = 12_500_000

const createInvalidFilterError = (why: string): ServiceError =>
  new ServiceError('invalid', `The filter is not valid: ${why}. ${usage}.`)

/** The value of the property at a path in lower case. Dots lead into nested objects; a name may contain dots itself. */
const readPath = (item: unknown, path: string): unknown => {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  for (const [name, value] of Object.entries(item)) {
    const key = name.toLowerCase()
    if (key === path) return value
    if (!path.startsWith(`${key}.`)) continue
    const inner = readPath(value, path.slice(key.length + 1))
    if (inner !== undefined) return inner
  }
  return undefined
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** The text that a pattern is matched against: a scalar as text, a list of scalars as `[a b]`, undefined for anything else. */
const toText = (value: unknown): string | undefined => {
  if (isScalar(value)) return String(value)
  return Array.isArray(value) && value.every(isScalar) ? `[${value.join(' ')}]` : undefined
}

/**
 * Parses an X-Filter header: `property=pattern`, with `,i` to ignore case. The filter sees only the fields of replies and
 * matches in linear time for every pattern. `isField` tells whether the items can have a path in lower case. Throws
 * `invalid`; the filter itself throws it too when the items are too much work.
 */
export const parseFilter = async (header: string, isField: (path: string) => boolean = () => true): Promise<Filter> => {
  if (header.length > maxLength) throw createInvalidFilterError(`it has more than ${maxLength} characters`)
  const [property = '', rest, ...more] = header.split('=')
  if (rest === undefined || more.length > 0) throw createInvalidFilterError('it has to have exactly one =')
  const [pattern = '', ...options] = rest.split(',')
  const path = property.trim().toLowerCase()
  if (path === '' || pattern === '') throw createInvalidFilterError('a property and a pattern are needed')
  // An empty list would look as if no item matched.
  if (!isField(path)) throw createInvalidFilterError(`the listed items have no property ${property.trim()}`)
  if (options.length > 1 || (options.length === 1 && options[0]?.trim() !== 'i'))
    throw createInvalidFilterError('the only option, after a comma, is i')
  const expression = await compilePattern(pattern, {
    ignoresCase: options.length === 1,
    createError: createInvalidFilterError,
  })
  let stepsLeft = maxSteps
  return item => {
    const text = toText(readPath(item, path))
    if (text === undefined) return false
    stepsLeft -= expression.size * text.length
    if (stepsLeft < 0) throw createInvalidFilterError('there is too much text for its pattern; use a shorter pattern')
    return expression.find(text)
  }
}
