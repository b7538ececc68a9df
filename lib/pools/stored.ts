import * as z from 'zod'
import { MemberSource, MemberTemplate } from '#lib/machines/members/schemas.ts'
import { memberStates } from './schemas.ts'

/** A pool, as the store has it. */
export const StoredPool = z.object({
  id: z.uuid(),
  name: z.string(),
  from: MemberSource,
  template: MemberTemplate,
  until: z.string().optional(),
  /** The id of the machine that the members are copies of. */
  source_id: z.string().optional(),
  /** The id of the snapshot of that machine that they are copies of. */
  snapshot_id: z.string().optional(),
  min: z.int(),
  max: z.int(),
  idle_ttl: z.int(),
  /** Grows with each change of what the members are. Ready members of an earlier one are replaced. */
  generation: z.int(),
  created_at: z.string(),
  created_by: z.string(),
})
export type StoredPool = z.infer<typeof StoredPool>

/** Who has got a machine. As long as the machine has no owner, it has to be given to this user, also after a restart. */
const Claim = z.object({
  /** The id of the user. */
  user: z.string(),
  username: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  expires_at: z.string().optional(),
  /** Digest of the user, the pool and the Idempotency-Key, if the claim had one. */
  key: z.string().optional(),
})
export type Claim = z.infer<typeof Claim>

/**
 * A machine of a pool. The document is stored before the machine is made and deleted after it is gone, so that a kill leaves no
 * machine without one.
 */
export const Member = z.object({
  /** The id of the machine. */
  id: z.uuid(),
  /** The name that the machine was made with. */
  name: z.string(),
  /** The id of the pool, which may be gone. */
  pool: z.uuid(),
  generation: z.int(),
  state: z.enum(memberStates),
  /** Time at which the state began, in milliseconds since 1970. */
  since: z.number(),
  claim: Claim.optional(),
})
export type Member = z.infer<typeof Member>
