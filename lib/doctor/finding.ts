/**
 * What a check has found. `ok`: nothing is wrong. `warning`: the service works, and could do more or will soon fail. `problem`:
 * something does not work.
 */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'problem'
  /** What is so, in a sentence. */
  readonly message: string
  /** The command that mends it. */
  readonly remedy?: string
}

/** A finding with the name of its check. */
export interface NamedFinding extends Finding {
  readonly check: string
}

/** The finding that nothing is wrong. */
export const createOk = (message: string): Finding => ({ status: 'ok', message })

/** The finding that the service works, and could do more. */
export const createWarning = (message: string, remedy?: string): Finding => ({
  status: 'warning',
  message,
  ...(remedy !== undefined && { remedy }),
})

/** The finding that something does not work. */
export const createProblem = (message: string, remedy?: string): Finding => ({
  ...createWarning(message, remedy),
  status: 'problem',
})
