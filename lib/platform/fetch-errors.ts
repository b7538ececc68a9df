import { ServiceError } from '#lib/errors.ts'

/**
 * Gives an error of `fetch` the code by which failures are told apart. Node's `fetch` has it in the cause. That of workerd
 * says only whether another attempt may succeed: a connection that could not be made or that broke is retryable, a name that
 * is not found and a certificate that is not trusted are not.
 */
export const toCodedError = (error: unknown): unknown => {
  const { cause, retryable }: { cause?: unknown; retryable?: unknown } = Object(error)
  const { code }: { code?: unknown } = Object(cause)
  if (typeof code === 'string') return cause
  if (!(error instanceof Error) || error instanceof ServiceError) return error
  return Object.assign(new Error(error.message, { cause: error }), {
    code: retryable === true ? 'ECONNRESET' : 'ERR_NOT_FOUND_OR_NOT_TRUSTED',
  })
}
