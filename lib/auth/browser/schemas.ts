import * as z from 'zod'

/** Who is signed in, with the present rights. */
export const Session = z
  .object({
    user_id: z.string(),
    username: z.string(),
    email: z.string(),
    super_user: z.boolean().meta({ description: 'Passes every check of a claim' }),
    roles: z.array(z.string()),
    claims: z.array(z.string()).meta({ description: 'Held directly and through roles' }),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

export const IssuedLink = z
  .object({
    fragment: z.string().meta({
      description: 'Append it to the address of the service. A browser sends the part after # to nobody',
    }),
    expires_at: z.iso.datetime().meta({ description: '24 hours from now' }),
  })
  .meta({ id: 'SignInLink' })
export type IssuedLink = z.infer<typeof IssuedLink>

/** A link as it is stored: one for each user, without its secret. */
export const StoredLink = z.object({
  id: z.string(),
  /** SHA-256 of the secret, in hex. */
  digest: z.string(),
  /** Milliseconds since 1970. */
  expires_at: z.number(),
  /** The number of changes of the user's password when the link was made. */
  generation: z.int().default(0),
})
