/** How a password is hashed (spec 5.9). */
export interface HashMethod {
  /** `sha256` is PBKDF2 with HMAC-SHA-256. Settings and the specification call it so. */
  readonly kind: 'bcrypt' | 'sha256'
  /** The binary logarithm of the rounds of bcrypt, or the iterations of PBKDF2. */
  readonly cost: number
}

/** The costs of new hashes. For PBKDF2 it is what OWASP's password storage cheat sheet recommends. */
export const defaultCost = { bcrypt: 12, sha256: 600_000 } as const

/** Bytes of a SHA-256 digest. */
export const digestSize = 32

/** A PBKDF2 hash as text, with the iterations and the salt that a comparison needs. */
export const formatPbkdf2Hash = (iterations: number, salt: Buffer, digest: Buffer): string =>
  `$pbkdf2-sha256$${iterations}$${salt.toString('base64url')}$${digest.toString('base64url')}`

const pbkdf2Pattern = /^\$pbkdf2-sha256\$(\d+)\$([\w-]+)\$([\w-]+)$/

/** Reads what `formatPbkdf2Hash` wrote; undefined for the hash of another method. */
export const parsePbkdf2Hash = (
  hash: string,
): { readonly iterations: number; readonly salt: Buffer; readonly digest: Buffer } | undefined => {
  const [, iterations, salt = '', digest = ''] = pbkdf2Pattern.exec(hash) ?? []
  if (iterations === undefined) return undefined
  return {
    iterations: Number(iterations),
    salt: Buffer.from(salt, 'base64url'),
    digest: Buffer.from(digest, 'base64url'),
  }
}

/** Reads from a hash with which method and cost it was made. */
export const detectHashMethod = (hash: string): HashMethod => {
  const pbkdf2 = parsePbkdf2Hash(hash)
  // A bcrypt hash begins with $2b$ and two digits of the cost.
  return pbkdf2 ? { kind: 'sha256', cost: pbkdf2.iterations } : { kind: 'bcrypt', cost: Number(hash.slice(4, 6)) }
}

/**
 * Makes a hash that no password is known for. When a user does not exist, the sign-in compares the password with this hash, so
 * that the time of its reply does not show which users exist.
 */
export const createDummyHash = ({ kind, cost }: HashMethod): string =>
  kind === 'bcrypt'
    ? `$2b$${String(cost).padStart(2, '0')}$C6UzMDM.H6dfI/f/IKcEeO7ZbqTrTvgA8oAdqEoxQuVVBpyxTJL8e`
    : formatPbkdf2Hash(cost, Buffer.alloc(16, 1), Buffer.alloc(digestSize, 1))
