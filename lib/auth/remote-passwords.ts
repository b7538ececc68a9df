import { ServiceError } from '#lib/errors.ts'
import { createDummyHash, detectHashMethod, type HashMethod } from './hash-methods.ts'
import type { Passwords } from './passwords.ts'

/** Hashes passwords outside this program, which could do nothing else meanwhile. */
export interface PasswordHasher {
  hash(password: string, method: HashMethod): Promise<string>
  /** Whether the password has this hash. */
  matches(password: string, hash: string): Promise<boolean>
}

/** The most passwords that may wait. More are refused with `unavailable`. */
const maxPending = 64

/** Creates passwords that another program hashes. */
export const createRemotePasswords = (hasher: PasswordHasher, method: HashMethod): Passwords => {
  const dummyHash = createDummyHash(method)
  let pending = 0
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (pending >= maxPending)
      throw new ServiceError(
        'unavailable',
        'Too many people are signing in at this moment; try again in some seconds.',
        { headers: { 'Retry-After': '5' } },
      )
    pending += 1
    try {
      return await work()
    } catch (cause) {
      throw new ServiceError('unavailable', 'Signing in failed; try again.', { cause })
    } finally {
      pending -= 1
    }
  }
  return {
    hash: password => run(() => hasher.hash(password, method)),
    verify: async (password, hash) =>
      (await run(() => hasher.matches(password, hash ?? dummyHash))) && hash !== undefined,
    isOutdated(hash) {
      const { kind, cost } = detectHashMethod(hash)
      return kind !== method.kind || cost !== method.cost
    },
    pending: () => pending,
    close: async () => {},
  }
}
