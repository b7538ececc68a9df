import type { Token } from './api.gen.ts'
import type { TokenProvider } from './types.ts'

const shortestUse = 30_000

/**
 * Gives the tokens of a sign-in: the same one for most of its time, and then or after a refusal another one. Calls at the
 * same time share one sign-in.
 */
export const createTokens = (signIn: () => Promise<Token>): TokenProvider => {
  let current: Promise<string> | undefined
  let known: string | undefined
  let renewAt = 0
  const renew = async (): Promise<string> => {
    try {
      const { token, expires_at: expiresAt } = await signIn()
      const now = Date.now()
      // Clocks differ: a token is used for a while even if it seems to have expired.
      renewAt = now + Math.max(shortestUse, (expiresAt * 1000 - now) * 0.9)
      known = token
      return token
    } catch (error) {
      current = undefined
      throw error
    }
  }
  return refused => {
    if (!current || Date.now() > renewAt || (refused !== undefined && refused === known)) {
      renewAt = Infinity
      known = undefined
      current = renew()
    }
    return current
  }
}
