/** The Levenshtein distance: the number of changed, added or removed letters between two texts. */
const computeEditDistance = (a: string, b: string): number => {
  // The distances between the letters of `a` so far and each beginning of `b`, the empty one left out.
  let row = Array.from(b, (_, at) => at + 1)
  let distance = b.length
  for (const [i, letter] of [...a].entries()) {
    let [diagonal, left] = [i, i + 1]
    const next = row.map((above, j) => {
      left = Math.min(left + 1, above + 1, diagonal + Number(letter !== b[j]))
      diagonal = above
      return left
    })
    row = next
    distance = left
  }
  return distance
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
