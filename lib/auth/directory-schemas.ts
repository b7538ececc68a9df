import * as z from 'zod'

/** A user as it is stored. */
export const User = z.object({
  id: z.uuid(),
  username: z.string(),
  email: z.string(),
  name: z.string(),
  password: z.string().optional().meta({ description: 'Its hash; nobody signs in with a password without one' }),
  /** The number of changes of the password. Tokens of an earlier generation are not valid. */
  generation: z.int().default(0),
  roles: z.array(z.string()),
  /** The claims that the user holds directly, without those of the roles. */
  claims: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
})
export type User = z.infer<typeof User>

/** A role as it is stored. Everywhere else the name of a role is its id. */
export const Role = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().optional(),
  /** True for a role of the service, which cannot be changed or removed. */
  internal: z.boolean(),
  claims: z.array(z.string()),
})
export type Role = z.infer<typeof Role>

/** A claim that an operator added to those of the service. */
export const CustomClaim = z.object({ id: z.uuid(), name: z.string(), description: z.string().optional() })
export type CustomClaim = z.infer<typeof CustomClaim>
