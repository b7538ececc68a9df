import * as z from 'zod'

/**
 * The media type in the header of an assertion: a signed statement of one service to another about the user for whom it sends a
 * request. Tokens have another type, so neither can take the place of the other (RFC 8725, 3.11).
 */
export const assertionType = 'vmhost-assertion+jwt'

/** The longest lifetime of an assertion, in seconds. */
export const assertionLifetime = 60

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
  iat: z.int(),
  exp: z.int(),
  jti: z.uuid(),
})
export type AssertionClaims = z.infer<typeof AssertionClaims>
