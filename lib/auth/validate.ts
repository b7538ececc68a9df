import { isFault, ServiceError } from '#lib/errors.ts'
import type { Tokens } from './tokens.ts'

/** Passes a valid token. Throws `invalid` without one, else what is wrong with it, with `valid: false` beside. */
export const requireValid = async (tokens: Pick<Tokens, 'verify'>, token: string | undefined): Promise<void> => {
  if (!token) throw new ServiceError('invalid', 'Token is required.', { extra: { valid: false } })
  try {
    await tokens.verify(token)
  } catch (error) {
    if (!isFault(error, 'unauthenticated')) throw error
    throw new ServiceError(error.fault, error.message, {
      headers: error.headers,
      extra: { ...error.extra, valid: false },
    })
  }
}
