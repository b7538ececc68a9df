import type { ServiceError } from '#lib/errors.ts'

/** A compiled pattern, which matches in linear time whatever the text is. */
export interface LinearPattern {
  /** The number of its instructions. Its steps for a text are at most this number times the length of the text. */
  readonly size: number
  /** Whether it matches anywhere in a text. */
  find(text: string): boolean
  /** Finds the first match in UTF-8. Gives it as byte offsets. */
  findBytes(bytes: Uint8Array): { readonly start: number; readonly end: number } | undefined
}

/** Limit for the instructions of a compiled pattern: nested repeats make millions out of a short text. */
const maxProgramSize = 1_000

/** Compiles a regular expression of RE2. `createError` makes the error that this throws for a bad pattern. */
export const compilePattern = async (
  pattern: string,
  { ignoresCase = false, createError }: { ignoresCase?: boolean; createError: (why: string) => ServiceError },
): Promise<LinearPattern> => {
  // Loaded on demand: patterns are rare and the library is large.
  const { RE2JS, RE2JSException } = await import('re2js')
  try {
    const expression = RE2JS.compile(pattern, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0)
    const size = expression.programSize()
    if (size > maxProgramSize) throw createError('its pattern repeats too much')
    return {
      size,
      find: text => expression.matcher(text).find(),
      findBytes(bytes) {
        const matcher = expression.matcher(bytes)
        return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
      },
    }
  } catch (error) {
    if (error instanceof RE2JSException) throw createError(error.message)
    throw error
  }
}
