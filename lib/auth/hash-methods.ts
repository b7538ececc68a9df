/** How new passwords are hashed (spec 5.9). `cost` is that of bcrypt, or the iterations of PBKDF2 with SHA-256. */
export interface HashMethod {
  readonly kind: 'bcrypt' | 'sha256'
  readonly cost: number
}

/** bcrypt: each step doubles the time. PBKDF2: the iterations that OWASP's password storage cheat sheet recommends. */
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

/** The method and cost that a hash was made with. */
export const detectHashMethod = (hash: string): HashMethod => {
  const sha256 = parsePbkdf2Hash(hash)
  // A bcrypt hash begins with $2b$ and two digits of the cost.
  return sha256 ? { kind: 'sha256', cost: sha256.iterations } : { kind: 'bcrypt', cost: Number(hash.slice(4, 6)) }
}

/** A hash that no password matches. For unknown users it is compared instead, so that the time does not tell who exists. */
export const createDummyHash = ({ kind, cost }: HashMethod): string =>
  kind === 'bcrypt'
    ? `$2b$${String(cost).padStart(2, '0')}$C6UzMDM.H6dfI/f/IKcEeO7ZbqTrTvgA8oAdqEoxQuVVBpyxTJL8e`
    : formatPbkdf2Hash(cost, Buffer.alloc(16, 1), Buffer.alloc(digestSize, 1))
