import { attempt, type MaybePromise } from '#lib/async/maybe-promise.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Tokens } from './tokens.ts'

const refuseToken = (error: unknown): never => {
  if (!isFault(error, 'unauthenticated')) throw error
  throw new ServiceError(error.fault, error.message, {
    headers: error.headers,
    extra: { ...error.extra, valid: false },
  })
}

/**
 * Passes a valid token, at once if it was verified before. Throws `invalid` without one and `unauthenticated` for a bad one;
 * both replies have `valid: false`.
 */
export const requireValidToken = (
  tokens: Pick<Tokens, 'verify'>,
  token: string | undefined,
  connection: object | undefined,
): MaybePromise<unknown> => {
  if (!token) throw new ServiceError('invalid', 'Token is required.', { extra: { valid: false } })
  return attempt(() => tokens.verify(token, connection), refuseToken)
}
