import { ServiceError } from '#lib/errors.ts'
import { createDummyHash, defaultCost, detectHashMethod, type HashMethod } from './hash-methods.ts'

export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether the password has this hash. Without a hash the answer is false and takes as long. */
  verify(password: string, hash: string | undefined): Promise<boolean>
  /** Whether a hash was made with another method or cost than the configured one. */
  isOutdated(hash: string): boolean
  /** The number of passwords that are waiting or being hashed. */
  pending(): number
  close(): Promise<void>
}

/** Hashes passwords where nobody waits for anything else, because a hash takes a third of a second. */
export interface PasswordHasher {
  hash(password: string, method: HashMethod): Promise<string>
  /** Whether the password has this hash. */
  matches(password: string, hash: string): Promise<boolean>
}

interface Options {
  readonly hasher: PasswordHasher & Partial<AsyncDisposable>
  /** How new passwords are hashed; bcrypt at its default cost when left out. */
  readonly method?: HashMethod
  /** The most passwords that may wait. More are refused with `unavailable`. */
  readonly maxQueued?: number
}

/** Creates passwords that the hasher hashes. */
export const createPasswords = ({
  hasher,
  method = { kind: 'bcrypt', cost: defaultCost.bcrypt },
  maxQueued = 64,
}: Options): Passwords => {
  const dummyHash = createDummyHash(method)
  let pending = 0
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (pending >= maxQueued)
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
    close: async () => hasher[Symbol.asyncDispose]?.(),
  }
}
