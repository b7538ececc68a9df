import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { Labels } from '#lib/calls/selection/labels.ts'
import { Ttl } from '#lib/machines/create/lifecycle.ts'
import { MemberSource, MemberTemplate, type secretMembers } from '#lib/machines/members/schemas.ts'
import { machineStates } from '#lib/machines/states.ts'

/** The most machines of one pool. */
const mostMembers = 1_000
const day = 24 * 3600
/** Seconds: proxies and clients give up on longer requests. */
const longestWait = 300

const PoolName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
    'must be 1 to 63 letters, digits, ., _ and -, with a letter or digit at both ends',
  )
export const PoolReference = z.object({ name: z.string() })

const Count = z.int().min(0).max(mostMembers)

// The descriptions for the OpenAPI document are in functions/pool-glossary.ts, which the edge does not load at its start.

const poolShape = {
  from: MemberSource,
  template: MemberTemplate.default({}),
  until: z.string().max(520).optional(),
  min: Count,
  max: Count.min(1),
  idle_ttl: Ttl.default(day),
}

const hasRoom = ({ min, max }: { readonly min: number; readonly max: number }): boolean => min <= max
const tooLittleRoom = { message: 'must be at least min', path: ['max'] }

/** A definition that takes the place of another one. */
export const PoolDefinition = knownObject('a pool', poolShape).refine(hasRoom, tooLittleRoom)
export type PoolDefinition = z.infer<typeof PoolDefinition>

export const NewPool = knownObject('a pool', { name: PoolName, ...poolShape }).refine(hasRoom, tooLittleRoom)
export type NewPool = z.infer<typeof NewPool>

/** What becomes of the ready machines of a pool that is deleted. */
export const DeletePoolQuery = z.object({ members: z.enum(['delete', 'keep']).default('delete') })

export const memberStates = ['preparing', 'ready', 'claimed', 'leaving'] as const

const PoolMember = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(memberStates),
  since: z.string(),
  claimed_by: z.string().optional(),
})

export const Pool = z
  .object({
    id: z.string(),
    name: z.string(),
    ...poolShape,
    template: MemberTemplate.omit({ user_data: true, network_config: true } satisfies Record<
      (typeof secretMembers)[number],
      true
    >),
    idle_ttl: z.int(),
    created_at: z.string(),
    created_by: z.string(),
    waiting: z.int(),
    problem: z.string().optional(),
    members: z.array(PoolMember),
  })
  .meta({ id: 'Pool' })
export type Pool = z.infer<typeof Pool>

export const ClaimRequest = knownObject('a claim', { labels: Labels.optional(), ttl: Ttl.optional() })
export type ClaimRequest = z.infer<typeof ClaimRequest>

export const ClaimQuery = z.object({ timeout: z.coerce.number().min(0).max(longestWait).default(60) })

export const ClaimedMachine = z
  .object({
    id: z.string(),
    name: z.string(),
    owner: z.string(),
    pool: z.string(),
    current_state: z.enum(machineStates),
    ip_configured: z.string(),
    labels: z.record(z.string(), z.string()),
    expires_at: z.string().optional(),
  })
  .meta({ id: 'ClaimedMachine' })
export type ClaimedMachine = z.infer<typeof ClaimedMachine>
