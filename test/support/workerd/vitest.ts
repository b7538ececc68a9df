/** Takes the place of vitest in suites that run inside workerd: registers tests and runs them, one after the other. */
export { expect } from './expect.ts'

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
const addTest = (name: string, run: Step): void => void current.tests.push({ name, run })
/** One test for each value; `%j` and `%s` in the name stand for it. */
const each =
  <T>(values: readonly T[]) =>
  (name: string, run: (value: T) => unknown): void =>
    values.forEach(value => addTest(name.replace(/%[js]/, JSON.stringify(value)), () => run(value)))
export const test = Object.assign(addTest, { each })
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
