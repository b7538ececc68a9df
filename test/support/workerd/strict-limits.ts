/** Loaded before the program: the local runtime does not know the limits of the platform that follow. */

const maxIterations = 100_000

/** Throws as the platform does for more iterations of PBKDF2 than it allows. */
export const checkIterations = (iterations: number): void => {
  if (iterations > maxIterations)
    throw new Error(
      `Pbkdf2 failed: iteration counts above ${maxIterations} are not supported (requested ${iterations}).`,
    )
}

const { deriveBits } = SubtleCrypto.prototype
SubtleCrypto.prototype.deriveBits = function (algorithm, ...rest) {
  // Web Crypto's own parameter of this name; other algorithms have none.
  const { iterations = 0 } = Object(algorithm) as { readonly iterations?: number }
  checkIterations(iterations)
  return deriveBits.call(this, algorithm, ...rest)
}
