import * as z from 'zod'

/**
 * The media type in the header of an assertion: a signed statement of one service to another about the user for whom it sends a
 * request. Tokens have another type, so neither can take the place of the other (RFC 8725, 3.11).
 */
export const assertionType = 'vmhost-assertion+jwt'

/** The longest lifetime of an assertion, in seconds. */
export const assertionLifetime = 60

/** The most characters of an assertion. The server of a host (Node's) refuses headers of 16 KiB together. */
export const maxAssertionLength = 12 * 1024

/**
 * The header in which a host names the nonce of its present run when it refuses an assertion without it (as RFC 9449, 8 does for other
 * tokens).
 */
export const nonceHeader = 'Assertion-Nonce'

const Name = z
  .string()
  .max(256)
  .regex(/^\P{C}*$/u)

/** What an assertion says: the user, and the rights of the user at the issuer. */
export const AssertionClaims = z.object({
  iss: z.string(),
  aud: z.string(),
  sub: z.uuid(),
  username: Name.min(1),
  email: Name,
  roles: z.array(Name).max(1_000),
  claims: z.array(Name).max(1_000),
  /** SHA-256 (lower-case hex) of the body of the request, if it has one. */
  body: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  iat: z.int(),
  exp: z.int(),
  jti: z.uuid(),
  /** Names the run of the host for which the assertion is. Changes need it. */
  nonce: z.uuid().optional(),
})
export type AssertionClaims = z.infer<typeof AssertionClaims>
