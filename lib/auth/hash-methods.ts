/** How new passwords are hashed (spec 5.9); `cost` is bcrypt's, or the rounds of PBKDF2 with SHA-256. */
export interface HashMethod {
  readonly kind: 'bcrypt' | 'sha256'
  readonly cost: number
}

/** bcrypt: each step doubles the time. SHA-256: the rounds that OWASP's password storage cheat sheet asks for. */
export const usualCost = { bcrypt: 12, sha256: 600_000 } as const

/** Bytes of a SHA-256. */
export const digestSize = 32

/** A salted, stretched SHA-256 as text, with all that is needed to compare it. */
export const sha256Text = (rounds: number, salt: Buffer, digest: Buffer): string =>
  `$pbkdf2-sha256$${rounds}$${salt.toString('base64url')}$${digest.toString('base64url')}`

const sha256Form = /^\$pbkdf2-sha256\$(\d+)\$([\w-]+)\$([\w-]+)$/

/** What `sha256Text` wrote; undefined for the hash of another method. */
export const readSha256Text = (
  hash: string,
): { readonly rounds: number; readonly salt: Buffer; readonly digest: Buffer } | undefined => {
  const [, rounds, salt = '', digest = ''] = sha256Form.exec(hash) ?? []
  if (rounds === undefined) return undefined
  return { rounds: Number(rounds), salt: Buffer.from(salt, 'base64url'), digest: Buffer.from(digest, 'base64url') }
}

/** The method that a hash was made by. */
export const methodOf = (hash: string): HashMethod => {
  const sha256 = readSha256Text(hash)
  // bcrypt's text is $2b$ and two digits of its cost.
  return sha256 ? { kind: 'sha256', cost: sha256.rounds } : { kind: 'bcrypt', cost: Number(hash.slice(4, 6)) }
}

/** A hash that no password has, made as `method` would: compared with where there is no user, it takes as long. */
export const nobodysHash = ({ kind, cost }: HashMethod): string =>
  kind === 'bcrypt'
    ? `$2b$${String(cost).padStart(2, '0')}$C6UzMDM.H6dfI/f/IKcEeO7ZbqTrTvgA8oAdqEoxQuVVBpyxTJL8e`
    : sha256Text(cost, Buffer.alloc(16, 1), Buffer.alloc(digestSize, 1))
