import { createHash } from 'node:crypto'
import * as z from 'zod'
import { keysOf } from '#lib/keys-of.ts'

/** An entry of the audit: who asked for what, from where, and how it ended. It never holds a secret. */
export const AuditEntry = z.object({
  at: z.string(),
  request_id: z.string(),
  user_id: z.string().optional(),
  username: z.string().optional(),
  issuer: z
    .string()
    .optional()
    .meta({ description: 'The service whose user it is; left out for a user of this service' }),
  api_key_id: z.string().optional().meta({ description: 'The API key of the request' }),
  address: z.string().meta({ description: 'IP address, or local for the command line of this host' }),
  operation: z.string(),
  method: z.string(),
  target: z.record(z.string(), z.string()).optional().meta({ description: 'The parameters of the path' }),
  details: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Members of the request body that are not secret' }),
  created: z.string().optional().meta({ description: 'Id of the created record' }),
  outcome: z.enum(['done', 'refused', 'failed']),
  status: z.int(),
  message: z.string().optional().meta({ description: 'Why it was refused or failed' }),
  repeated: z.int().optional().meta({ description: 'Number of further refusals of the same kind' }),
  previous_hash: z.string(),
  hash: z
    .string()
    .meta({ description: 'SHA-256 of this entry as JSON: its members in this order without `hash`, then `seq`' }),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** An entry without its hashes, which follow from its position in the chain. */
export type AuditFacts = Omit<AuditEntry, 'previous_hash' | 'hash'>

const hashedMembers = keysOf(AuditEntry.shape).filter(name => name !== 'hash')

/** The hash of an entry. Members are hashed in the order of the schema, so that equal entries have equal hashes. */
const computeHash = (entry: Omit<AuditEntry, 'hash'>, seq: number): string => {
  const ordered = hashedMembers.flatMap(name => {
    const value = entry[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries([...ordered, ['seq', seq]])))
    .digest('hex')
}

/** The previous hash of the first entry. */
const genesisHash = '0'.repeat(64)

/** Chains an entry to the previous one: its hash covers the hash of that entry, so that a change or removal is detected. */
export const chainEntry = (facts: AuditFacts, seq: number, previous: AuditEntry | undefined): AuditEntry => {
  const entry = { ...facts, previous_hash: previous?.hash ?? genesisHash }
  return { ...entry, hash: computeHash(entry, seq) }
}

type NumberedEntry = AuditEntry & { readonly seq: number }

/**
 * Checks two entries that should follow each other, or the second alone when there is no first. Gives what is wrong in
 * words; undefined when the chain is whole.
 */
export const findChainBreak = (first: NumberedEntry | undefined, second: NumberedEntry): string | undefined => {
  if (computeHash(second, second.seq) !== second.hash) return `entry ${second.seq} was changed`
  if (!first) return undefined
  if (second.seq !== first.seq + 1) return `the entries between ${first.seq} and ${second.seq} are missing`
  return second.previous_hash === first.hash ? undefined : `entry ${second.seq} does not follow entry ${first.seq}`
}
