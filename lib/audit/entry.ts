import { createHash } from 'node:crypto'
import * as z from 'zod'

/** One thing that was done or refused: who, from where, what, and how it ended. Never a secret. */
export const AuditEntry = z.object({
  at: z.string(),
  request_id: z.string(),
  user_id: z.string().optional(),
  username: z.string().optional(),
  api_key_id: z.string().optional().meta({ description: 'The API key that the user acted by' }),
  address: z.string().meta({ description: 'IP address, or local for the command line of this host' }),
  operation: z.string(),
  method: z.string(),
  target: z.record(z.string(), z.string()).optional().meta({ description: 'The parameters of the path' }),
  details: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'What the request said that is no secret' }),
  created: z.string().optional().meta({ description: 'Id of what was made' }),
  outcome: z.enum(['done', 'refused', 'failed']),
  status: z.int(),
  message: z.string().optional().meta({ description: 'Why it was refused or failed' }),
  repeated: z.int().optional().meta({ description: 'How many more refusals like this one there were' }),
  previous_hash: z.string(),
  hash: z
    .string()
    .meta({ description: 'SHA-256 of this entry as JSON: its members in this order but for `hash`, then `seq`' }),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** What is told of an entry; its place in the chain comes from the log. */
export type AuditFacts = Omit<AuditEntry, 'previous_hash' | 'hash'>

const members = Object.keys(AuditEntry.shape).filter(name => name !== 'hash') as (keyof AuditEntry)[]

/** The entry's members in the order of the schema, whatever order they came in: equal entries have equal hashes. */
const hashOf = (entry: Omit<AuditEntry, 'hash'>, seq: number): string => {
  const ordered = members.flatMap(name => {
    const value = (entry as AuditEntry)[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries([...ordered, ['seq', seq]])))
    .digest('hex')
}

/** The first entry follows this. */
const beginning = '0'.repeat(64)

/** An entry that follows another: its hash covers that one's, so that neither can be changed or taken out unseen. */
export const chained = (facts: AuditFacts, seq: number, previous: AuditEntry | undefined): AuditEntry => {
  const entry = { ...facts, previous_hash: previous?.hash ?? beginning }
  return { ...entry, hash: hashOf(entry, seq) }
}

type Numbered = AuditEntry & { readonly seq: number }

/**
 * What is wrong between two entries that should follow each other, in words; undefined when nothing is. Without a first
 * one only the second is looked at.
 */
export const breakBetween = (first: Numbered | undefined, second: Numbered): string | undefined => {
  if (hashOf(second, second.seq) !== second.hash) return `entry ${second.seq} was changed`
  if (!first) return undefined
  if (second.seq !== first.seq + 1) return `the entries between ${first.seq} and ${second.seq} are missing`
  return second.previous_hash === first.hash ? undefined : `entry ${second.seq} does not follow entry ${first.seq}`
}
