/** Takes the place of vitest in suites that run inside workerd: registers tests and runs them, one after the other. */
import { isDeepStrictEqual } from 'node:util'

type Step = () => unknown

interface Suite {
  readonly name: string
  readonly before: Step[]
  readonly after: Step[]
  readonly tests: { readonly name: string; readonly run: Step }[]
  readonly suites: Suite[]
}

export interface TestResult {
  readonly name: string
  /** Why the test failed; undefined when it passed. */
  readonly error: string | undefined
}

const createSuite = (name: string): Suite => ({ name, before: [], after: [], tests: [], suites: [] })
const root = createSuite('')
let current = root

export const describe = (name: string, fill: () => void): void => {
  const outer = current
  current = createSuite(name)
  outer.suites.push(current)
  fill()
  current = outer
}
export const test = (name: string, run: Step): void => void current.tests.push({ name, run })
export const beforeEach = (step: Step): void => void current.before.push(step)
export const afterEach = (step: Step): void => void current.after.push(step)

/** Runs the steps in order; gives what the first failure says. */
const runSteps = async (steps: readonly Step[]): Promise<string | undefined> => {
  try {
    for (const step of steps) await step()
    return undefined
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

const runSuite = async (suite: Suite, before: readonly Step[], after: readonly Step[]): Promise<TestResult[]> => {
  const [allBefore, allAfter] = [
    [...before, ...suite.before],
    [...suite.after, ...after],
  ]
  const results: TestResult[] = []
  for (const { name, run } of suite.tests) {
    const failure = await runSteps([...allBefore, run])
    const afterFailure = await runSteps(allAfter)
    results.push({ name: `${suite.name} > ${name}`, error: failure ?? afterFailure })
  }
  for (const inner of suite.suites) results.push(...(await runSuite(inner, allBefore, allAfter)))
  return results
}

/** Runs everything that was registered. */
export const runTests = (): Promise<readonly TestResult[]> => runSuite(root, [], [])

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Whether a value has every member of the pattern; with `exact`, no others. Members that are undefined count as missing. */
const isLike = (value: unknown, pattern: unknown, exact: boolean): boolean => {
  if (!isRecord(value) || !isRecord(pattern)) return Object.is(value, pattern)
  if (Array.isArray(pattern) && (!Array.isArray(value) || value.length !== pattern.length)) return false
  if (pattern instanceof Uint8Array) return isDeepStrictEqual(value, pattern)
  const namesOf = (object: Record<string, unknown>): string[] =>
    Object.keys(object).filter(name => object[name] !== undefined)
  if (exact && namesOf(value).length !== namesOf(pattern).length) return false
  return namesOf(pattern).every(name => isLike(value[name], pattern[name], exact))
}

const catchError = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
type ErrorPattern = string | RegExp | (abstract new (...values: never[]) => unknown)
const isError = (error: unknown, pattern: ErrorPattern): boolean => {
  if (typeof pattern === 'function') return error instanceof pattern
  const { message } = error instanceof Error ? error : { message: '' }
  return typeof pattern === 'string' ? message.includes(pattern) : pattern.test(message)
}

const show = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 500)

export const expect = (value: unknown) => {
  const assert = (isTrue: boolean, verb: string, wanted?: unknown): void => {
    if (!isTrue) throw new Error(`expected ${show(value)} ${verb} ${show(wanted)}`)
  }
  const checksOf = (found: unknown) => ({
    toEqual: (wanted: unknown) => assert(isLike(found, wanted, true), 'to equal', wanted),
    toMatchObject: (wanted: unknown) => assert(isLike(found, wanted, false), 'to match', wanted),
  })
  return {
    ...checksOf(value),
    toBe: (wanted: unknown) => assert(Object.is(value, wanted), 'to be', wanted),
    toBeUndefined: () => assert(value === undefined, 'to be undefined'),
    toBeDefined: () => assert(value !== undefined, 'to be defined'),
    toHaveLength: (wanted: number) => assert((value as { length: number }).length === wanted, 'to have length', wanted),
    toThrow(wanted: ErrorPattern) {
      const error = catchError(value as () => unknown)
      assert(error !== undefined && isError(error, wanted), `to throw, and not ${String(error)},`, String(wanted))
    },
    rejects: {
      async toMatchObject(wanted: object) {
        const error: unknown = await (value as Promise<unknown>).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        const { message } = error instanceof Error ? error : { message: undefined }
        assert(
          isLike({ ...Object(error), message }, wanted, false),
          `to reject, and not with ${String(error)},`,
          wanted,
        )
      },
      async toThrow(wanted: ErrorPattern) {
        const error: unknown = await (value as Promise<unknown>).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        assert(
          error !== undefined && isError(error, wanted),
          `to reject, and not with ${String(error)},`,
          String(wanted),
        )
      },
    },
  }
}
