import * as z from 'zod'
import { claimNames } from './claims.ts'

/** What is kept of a key: of its secret only a keyed digest. */
export const ApiKey = z.object({
  id: z.uuid(),
  key: z.string(),
  name: z.string(),
  digest: z.string(),
  user_id: z.uuid(),
  revoked: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  revoked_at: z.string().optional(),
  expires_at: z.string().optional(),
  /** What the key may do of what its owner may; all of it when left out. */
  claims: z.array(z.string()).optional(),
})
export type ApiKey = z.infer<typeof ApiKey>

const Text = z
  .string('must be a text')
  .max(256, 'must not be longer than 256 characters')
  .refine(text => text.isWellFormed(), 'must have whole characters')

/** Times of a request are ignored: they are the service's to say. */
export const CreateApiKey = z.object({
  name: Text.trim().min(1, 'must not be empty'),
  key: Text.trim().optional().meta({ description: 'Made up when left out' }),
  secret: Text.optional().meta({ description: 'Made up when left out' }),
  revoked: z.boolean('must be true or false').default(false),
  user_id: z
    .uuid('must be the id of a user')
    .optional()
    .meta({ description: 'Whose key it is; the caller’s when left out' }),
  expires_at: z.iso.datetime({ offset: true, error: 'must be a time of RFC 3339' }).optional(),
  claims: z
    .array(z.enum(claimNames as [string, ...string[]], 'must be a claim of this service'))
    .optional()
    .meta({ description: 'Narrows the key to these of its owner’s claims' }),
})
export type CreateApiKey = z.infer<typeof CreateApiKey>

/** Spec 2.1, and what else there is to know. `encoded` holds the credential in the reply to a creation, and "" after it. */
export const ApiKeyRecord = ApiKey.omit({ digest: true }).extend({ encoded: z.string() }).meta({ id: 'ApiKey' })
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>

export const ApiKeyReference = z.object({ id: z.string().min(1).meta({ description: 'Id or name, in any case' }) })
