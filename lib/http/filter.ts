import { ServiceError } from '#lib/errors.ts'

/** Whether an item of a list is wanted. */
export type Filter = (item: unknown) => boolean

/** A filter with the text that it was read from. */
export interface AskedFilter {
  readonly text: string
  readonly keep: Filter
}

const usage = 'Write X-Filter as PROPERTY=PATTERN or PROPERTY=PATTERN,i, with a regular expression of RE2'
const longest = 512
/** Instructions of a compiled pattern: repeats of repeats make millions out of a short text. */
const largestPattern = 1_000
/** Instructions times characters that one filter may look at: at worst some half of a second. */
const mostSteps = 50_000_000

const bad = (why: string): ServiceError => new ServiceError('invalid', `The filter is not valid: ${why}. ${usage}.`)

/** The value of a property, by its name in any case, dots leading into groups; a name may hold dots itself. */
const valueAt = (item: unknown, path: string): unknown => {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  for (const [name, value] of Object.entries(item)) {
    const key = name.toLowerCase()
    if (key === path) return value
    if (!path.startsWith(`${key}.`)) continue
    const inner = valueAt(value, path.slice(key.length + 1))
    if (inner !== undefined) return inner
  }
  return undefined
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** What a pattern is matched against: a plain value as text, a list of them as `[a b]`; nothing else matches anything. */
const textOf = (value: unknown): string | undefined => {
  if (isPlain(value)) return String(value)
  return Array.isArray(value) && value.every(isPlain) ? `[${value.join(' ')}]` : undefined
}

/**
 * Reads the value of an X-Filter header: `property=pattern`, `,i` after it ignores case. It sees the fields of replies
 * alone, and matches in linear time whatever the pattern. Throws `invalid`, also on an item, when that is too much work.
 */
export const parseFilter = async (header: string): Promise<Filter> => {
  if (header.length > longest) throw bad(`it has more than ${longest} characters`)
  const [property = '', rest, ...more] = header.split('=')
  if (rest === undefined || more.length > 0) throw bad('it has to have exactly one =')
  const [pattern = '', ...options] = rest.split(',')
  const path = property.trim().toLowerCase()
  if (path === '' || pattern === '') throw bad('a property and a pattern are needed')
  if (options.length > 1 || (options.length === 1 && options[0]?.trim() !== 'i'))
    throw bad('the only option, after a comma, is i')
  // Asked for rarely, and as large as all of the rest of this folder.
  const { RE2JS, RE2JSException } = await import('re2js')
  try {
    const expression = RE2JS.compile(pattern, options.length === 1 ? RE2JS.CASE_INSENSITIVE : 0)
    const size = expression.programSize()
    if (size > largestPattern) throw bad('its pattern repeats too much')
    let left = mostSteps
    return item => {
      const text = textOf(valueAt(item, path))
      if (text === undefined) return false
      left -= size * text.length
      if (left < 0) throw bad('there is too much text for its pattern; look for something shorter')
      return expression.matcher(text).find()
    }
  } catch (error) {
    if (error instanceof RE2JSException) throw bad(error.message)
    throw error
  }
}
