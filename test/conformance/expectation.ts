/** What a value has to be, where its members cannot say it. */
type Check = (actual: unknown, at: string) => string[]

/** A check among the members of an expected reply. */
class Expectation {
  readonly check: Check
  /** Gives the same expectation with every text replaced. */
  readonly map: (replace: (value: unknown) => unknown) => Expectation
  constructor(check: Check, map: Expectation['map']) {
    this.check = check
    this.map = map
  }
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 400)

/** What of a value is not as expected: of an object the named members, of an array all of its items. */
export const findMismatches = (expected: unknown, actual: unknown, at = 'reply'): string[] => {
  if (expected instanceof Expectation) return expected.check(actual, at)
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return [`${at} is ${show(actual)}, not ${show(expected)}`]
    return expected.flatMap((item, index) => findMismatches(item, actual[index], `${at}.${index}`))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return [`${at} is ${show(actual)}, not ${show(expected)}`]
    const members = new Map(Object.entries(actual))
    return Object.entries(expected).flatMap(([name, value]) =>
      findMismatches(value, members.get(name), `${at}.${name}`),
    )
  }
  return Object.is(expected, actual) ? [] : [`${at} is ${show(actual)}, not ${show(expected)}`]
}

const holds = (list: unknown, item: unknown): boolean =>
  Array.isArray(list) && list.some(one => findMismatches(item, one).length === 0)

/** A list that has these items, among others. */
export const has = (...items: readonly unknown[]): Expectation =>
  new Expectation(
    (actual, at) =>
      items.filter(item => !holds(actual, item)).map(item => `${at} does not have ${show(item)}: ${show(actual)}`),
    replace => has(...items.map(replace)),
  )

/** A list that has none of these items. */
export const lacks = (...items: readonly unknown[]): Expectation =>
  new Expectation(
    (actual, at) => [
      ...(Array.isArray(actual) ? [] : [`${at} is no list: ${show(actual)}`]),
      ...items.filter(item => holds(actual, item)).map(item => `${at} has ${show(item)}`),
    ],
    replace => lacks(...items.map(replace)),
  )

/** A list of so many items. */
export const hasLength = (length: number): Expectation =>
  new Expectation(
    (actual, at) =>
      Array.isArray(actual) && actual.length === length ? [] : [`${at} has not ${length} items: ${show(actual)}`],
    () => hasLength(length),
  )

/** A text that a pattern matches. */
export const matches = (pattern: RegExp): Expectation =>
  new Expectation(
    (actual, at) =>
      typeof actual === 'string' && pattern.test(actual)
        ? []
        : [`${at} is ${show(actual)}, which is not like ${pattern}`],
    () => matches(pattern),
  )

/** Anything but undefined. */
export const present: Expectation = new Expectation(
  (actual, at) => (actual === undefined ? [`${at} is missing`] : []),
  () => present,
)

/** A copy of a value with `replace` applied to every text in it, expectations included. */
export const mapTexts = (value: unknown, replace: (text: string) => unknown): unknown => {
  const map = (inner: unknown): unknown => mapTexts(inner, replace)
  if (typeof value === 'string') return replace(value)
  if (value instanceof Expectation) return value.map(map)
  if (Array.isArray(value)) return value.map(map)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]))
}
