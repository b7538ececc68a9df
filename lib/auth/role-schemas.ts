import * as z from 'zod'
import { Holder, Named } from './user-schemas.ts'

const description = z.string().max(1024).optional()

export const CreateRole = Named.extend({
  description,
  claims: z.array(z.string().min(1).max(128)).max(256).default([]),
})
export type CreateRole = z.infer<typeof CreateRole>

export const CreateClaim = Named.extend({ description })
export type CreateClaim = z.infer<typeof CreateClaim>

export const RoleReference = z.object({ id: z.string().min(1).meta({ description: 'Name of the role, in any case' }) })
export const RoleClaimReference = RoleReference.extend({ claim: z.string().min(1) })
export const ClaimReference = z.object({
  id: z.string().min(1).meta({ description: 'Name of the claim, in any case' }),
})

/** A claim with its group, resource and action. Added claims have none of these. */
export const ClaimRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    internal: z.boolean(),
    group: z.string().optional(),
    resource: z.string().optional(),
    action: z.string().optional(),
  })
  .meta({ id: 'Claim' })
export type ClaimRecord = z.infer<typeof ClaimRecord>

/** A claim with the users who hold it directly. */
export const ClaimWithUsers = ClaimRecord.extend({ users: z.array(Holder) }).meta({ id: 'ClaimWithUsers' })
export type ClaimWithUsers = z.infer<typeof ClaimWithUsers>

export const ClaimGroup = z
  .object({
    group: z.string(),
    resources: z.array(z.object({ resource: z.string(), claims: z.array(ClaimRecord) })),
  })
  .meta({ id: 'ClaimGroup' })
export type ClaimGroup = z.infer<typeof ClaimGroup>

export const RoleRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    internal: z.boolean(),
    claims: z.array(ClaimRecord),
    users: z.array(Holder),
  })
  .meta({ id: 'Role' })
export type RoleRecord = z.infer<typeof RoleRecord>
