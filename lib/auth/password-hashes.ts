import { pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import bcrypt from 'bcryptjs'
import { digestSize, type HashMethod, parsePbkdf2Hash, formatPbkdf2Hash } from './hash-methods.ts'
import { maxPasswordBytes } from './password-policy.ts'

const derive = (password: string, salt: Buffer, iterations: number): Buffer =>
  pbkdf2Sync(password, salt, iterations, digestSize, 'sha256')

/** Hashes a password. Blocks the thread, for a third of a second at the default cost. */
export const hashPassword = (password: string, { kind, cost }: HashMethod): string => {
  if (kind === 'bcrypt') return bcrypt.hashSync(password, cost)
  const salt = randomBytes(16)
  return formatPbkdf2Hash(cost, salt, derive(password, salt, cost))
}

/** Whether a password has this hash, by whichever method it was made. Blocks the thread as long as hashing does. */
export const passwordMatches = (password: string, hash: string): boolean => {
  const pbkdf2 = parsePbkdf2Hash(hash)
  // bcrypt ignores the bytes after the 72nd, so it would accept a longer password that begins with the right one.
  if (!pbkdf2) return bcrypt.compareSync(password, hash) && Buffer.byteLength(password) <= maxPasswordBytes
  return timingSafeEqual(derive(password, pbkdf2.salt, pbkdf2.iterations), pbkdf2.digest)
}
