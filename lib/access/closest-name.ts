/** The Levenshtein distance: the number of changed, added or removed letters between two texts. */
const computeEditDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + Number(letter !== other)))
    row = next
  }
  return row.at(-1)!
}

/** A longer text is not a misspelled name, and comparing it with every name would be expensive. */
const maxLength = 128

/** Finds the name that a misspelled text probably means; undefined when none is close enough. */
export const findClosestName = (text: string, names: readonly string[]): string | undefined => {
  if (text.length > maxLength || names.length === 0) return undefined
  const [closest, changes] = names
    .map(name => [name, computeEditDistance(text, name)] as const)
    .reduce((best, one) => (one[1] < best[1] ? one : best))
  return changes <= Math.max(2, text.length / 3) ? closest : undefined
}
