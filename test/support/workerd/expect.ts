/** What suites expect, for runs inside workerd: the checks of vitest that they use, with its meaning. */
import { isDeepStrictEqual } from 'node:util'

/** Stands in a pattern for the values that it accepts. */
class Accepting {
  readonly accepts: (value: unknown) => boolean

  constructor(accepts: (value: unknown) => boolean) {
    this.accepts = accepts
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The members of an object that are not undefined. Those of an error that messages are made of are not enumerable. */
const namesOf = (object: Record<string, unknown>): string[] =>
  Object.keys(object).filter(name => object[name] !== undefined)

/** Whether a value has every member of the pattern; with `exact`, no others. Members that are undefined count as missing. */
const isLike = (value: unknown, pattern: unknown, exact: boolean): boolean => {
  if (pattern instanceof Accepting) return pattern.accepts(value)
  if (!isRecord(value) || !isRecord(pattern)) return Object.is(value, pattern)
  if (Array.isArray(pattern) && (!Array.isArray(value) || value.length !== pattern.length)) return false
  if (pattern instanceof Uint8Array) return isDeepStrictEqual(value, pattern)
  if (exact && namesOf(value).length !== namesOf(pattern).length) return false
  return namesOf(pattern).every(name => isLike(value[name], pattern[name], exact))
}

type ErrorPattern = string | RegExp | (abstract new (...values: never[]) => unknown)

const isError = (error: unknown, pattern: ErrorPattern): boolean => {
  if (typeof pattern === 'function') return error instanceof pattern
  const { message } = error instanceof Error ? error : { message: '' }
  return typeof pattern === 'string' ? message.includes(pattern) : pattern.test(message)
}

const show = (value: unknown): string =>
  value instanceof Error ? String(value.stack) : (JSON.stringify(value) ?? String(value)).slice(0, 500)

const checksOf = (value: unknown) => {
  const assert = (isTrue: boolean, verb: string, wanted?: unknown): void => {
    if (!isTrue) throw new Error(`expected ${show(value)} ${verb} ${show(wanted)}`)
  }
  return {
    toEqual: (wanted: unknown) => assert(isLike(value, wanted, true), 'to equal', wanted),
    toMatchObject: (wanted: unknown) => assert(isLike(value, wanted, false), 'to match', wanted),
    toBe: (wanted: unknown) => assert(Object.is(value, wanted), 'to be', wanted),
    toBeInstanceOf: (wanted: abstract new (...values: never[]) => unknown) =>
      assert(value instanceof wanted, 'to be of', wanted.name),
    toBeUndefined: () => assert(value === undefined, 'to be undefined'),
    toBeDefined: () => assert(value !== undefined, 'to be defined'),
    toHaveLength: (wanted: number) => assert((value as { length: number }).length === wanted, 'to have length', wanted),
    toBeGreaterThan: (wanted: number) => assert(Number(value) > wanted, 'to be greater than', wanted),
    toBeGreaterThanOrEqual: (wanted: number) => assert(Number(value) >= wanted, 'to be at least', wanted),
    toBeLessThan: (wanted: number) => assert(Number(value) < wanted, 'to be less than', wanted),
    toBeLessThanOrEqual: (wanted: number) => assert(Number(value) <= wanted, 'to be at most', wanted),
  }
}

/** The checks of the error with which a promise rejects. */
const rejectionChecksOf = (value: unknown) => {
  const check =
    <Wanted>(run: (error: unknown, wanted: Wanted) => void) =>
    async (wanted: Wanted): Promise<void> => {
      const [rejected, error] = await Promise.resolve(value).then(
        found => [false, found],
        (reason: unknown) => [true, reason],
      )
      if (!rejected) throw new Error(`expected to reject, and not ${show(error)}`)
      run(error, wanted)
    }
  return {
    toBe: check<unknown>((error, wanted) => checksOf(error).toBe(wanted)),
    toBeInstanceOf: check<abstract new (...values: never[]) => unknown>((error, wanted) =>
      checksOf(error).toBeInstanceOf(wanted),
    ),
    toMatchObject: check<object>((error, wanted) => checksOf(error).toMatchObject(wanted)),
    toThrow: check<ErrorPattern>((error, wanted) => {
      if (!isError(error, wanted)) throw new Error(`expected to reject with ${String(wanted)}, and not ${show(error)}`)
    }),
  }
}

const expectOne = (value: unknown) => ({
  ...checksOf(value),
  toThrow(wanted: ErrorPattern) {
    try {
      ;(value as () => unknown)()
    } catch (error) {
      if (isError(error, wanted)) return
      throw new Error(`expected to throw ${String(wanted)}, and not ${show(error)}`, { cause: error })
    }
    throw new Error(`expected to throw ${String(wanted)}`)
  },
  rejects: rejectionChecksOf(value),
})

export const expect = Object.assign(expectOne, {
  stringContaining: (part: string) => new Accepting(value => typeof value === 'string' && value.includes(part)),
  stringMatching: (pattern: RegExp) => new Accepting(value => typeof value === 'string' && pattern.test(value)),
})
