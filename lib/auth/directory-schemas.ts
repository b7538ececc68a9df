import * as z from 'zod'

/** A person who can sign in, as kept. */
export const User = z.object({
  id: z.uuid(),
  username: z.string(),
  email: z.string(),
  name: z.string(),
  password: z.string().optional().meta({ description: 'Its hash; nobody signs in with a password without one' }),
  /** Counts the changes of the password: tokens of earlier ones are not believed. */
  generation: z.int().default(0),
  roles: z.array(z.string()),
  /** Those that the user holds beside those of the roles. */
  claims: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
})
export type User = z.infer<typeof User>

/** A role as kept; everywhere else its name is its id. */
export const Role = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().optional(),
  /** Part of the service: cannot be changed or removed. */
  internal: z.boolean(),
  claims: z.array(z.string()),
})
export type Role = z.infer<typeof Role>

/** A claim that an operator added to those of the service. */
export const CustomClaim = z.object({ id: z.uuid(), name: z.string(), description: z.string().optional() })
export type CustomClaim = z.infer<typeof CustomClaim>
