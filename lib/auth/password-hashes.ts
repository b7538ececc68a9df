import { pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import bcrypt from 'bcryptjs'
import { digestSize, type HashMethod, readSha256Text, sha256Text } from './hash-methods.ts'
import { longestPassword } from './password-policy.ts'

const derive = (password: string, salt: Buffer, rounds: number): Buffer =>
  pbkdf2Sync(password, salt, rounds, digestSize, 'sha256')

/** The hash of a password. Blocks: for a third of a second at the usual cost. */
export const hashPassword = (password: string, { kind, cost }: HashMethod): string => {
  if (kind === 'bcrypt') return bcrypt.hashSync(password, cost)
  const salt = randomBytes(16)
  return sha256Text(cost, salt, derive(password, salt, cost))
}

/** Whether a password has this hash, by whichever method it was made. Blocks as long as making it. */
export const passwordMatches = (password: string, hash: string): boolean => {
  const sha256 = readSha256Text(hash)
  // bcrypt reads the first bytes of a longer one, and would find it right.
  if (!sha256) return bcrypt.compareSync(password, hash) && Buffer.byteLength(password) <= longestPassword
  return timingSafeEqual(derive(password, sha256.salt, sha256.rounds), sha256.digest)
}
