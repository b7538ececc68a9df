/** Names with values, from `name=value,name=value`. */
export const parsePairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .map(pair => pair.trim().split('='))
      .filter(([name]) => name !== '')
      .map(([name = '', ...value]) => [name, value.join('=')] as const),
  )

/** Names with values in one text, as `parsePairs` reads it. */
export const formatPairs = (pairs: Readonly<Record<string, string>> = {}): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
