/** A command that was called in a wrong way. It has done nothing. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
