import { isFault, ServiceError } from '#lib/errors.ts'
import type { Tokens } from './tokens.ts'

/** Passes a valid token. Throws `invalid` without one, `unauthenticated` for a bad one; both replies have `valid: false`. */
export const requireValidToken = async (
  tokens: Pick<Tokens, 'verify'>,
  token: string | undefined,
  connection: object | undefined,
): Promise<void> => {
  if (!token) throw new ServiceError('invalid', 'Token is required.', { extra: { valid: false } })
  try {
    await tokens.verify(token, connection)
  } catch (error) {
    if (!isFault(error, 'unauthenticated')) throw error
    throw new ServiceError(error.fault, error.message, {
      headers: error.headers,
      extra: { ...error.extra, valid: false },
    })
  }
}
